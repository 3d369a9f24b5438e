// Drives the public @trpc/client through its three HTTP links against a server and prints what it understood, as JSON.
// usage: node trpc_client.mjs <modules directory> <base url>
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [modules, url] = process.argv.slice(2)
const require = createRequire(pathToFileURL(`${modules}/`))
const { createTRPCUntypedClient, httpLink, httpBatchLink, httpBatchStreamLink } = await import(
  pathToFileURL(require.resolve('@trpc/client')).href
)

const links = { httpLink, httpBatchLink, httpBatchStreamLink }

/** @param {Promise<unknown>} promise */
const settled = (promise) =>
  promise.then(
    (data) => ({ data }),
    (error) => ({ message: error.message, code: error.shape?.code, data: error.data }),
  )

/** @type {Record<string, unknown>} */
const found = {}
for (const [name, link] of Object.entries(links)) {
  const client = createTRPCUntypedClient({ links: [link({ url, headers: { 'x-as': 'member' } })] })
  const nobody = createTRPCUntypedClient({ links: [link({ url })] })
  found[name] = {
    queries: await Promise.all([
      settled(client.query('health.ping')),
      settled(client.query('greet', { name: 'Zoë & co', timesOver: 2 })),
      settled(client.query('list')),
      settled(client.query('nothing')),
      settled(client.query('greet', { name: 5 })),
      settled(client.query('no.such')),
      settled(client.query('conflict')),
      settled(client.query('bug')),
      settled(client.query('theirs')),
    ]),
    alone: await settled(client.query('health.ping')),
    mutations: await Promise.all([
      settled(client.mutation('add', { amount: 1 })),
      settled(client.mutation('touch')),
      settled(client.mutation('add', {})),
    ]),
    nobody: await Promise.all([settled(nobody.query('mine')), settled(nobody.mutation('add', { amount: 1 }))]),
  }
}
process.stdout.write(JSON.stringify(found))
