// Sends a file with the public tus-js-client, and says how far it is, line by line; the last line is JSON.
// usage: node tus_client.mjs <modules directory> <endpoint> <file> <bytes a request>
import { createReadStream, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [modules, endpoint, file, chunkSize] = process.argv.slice(2)
const tus = createRequire(pathToFileURL(`${modules}/`))('tus-js-client')

/** @type {string | undefined} */
let fileId
const upload = new tus.Upload(createReadStream(file), {
  endpoint,
  chunkSize: Number(chunkSize),
  uploadSize: statSync(file).size,
  retryDelays: Array(100).fill(100),
  metadata: { filename: 'größe.bin', filetype: 'application/x-thing' },
  onChunkComplete: (_, accepted) => console.log(accepted),
  onAfterResponse: (_, response) => {
    fileId = response.getHeader('x-svc-file-id') ?? fileId
  },
  onError: (error) => {
    console.log(JSON.stringify({ error: error.message }))
  },
  onSuccess: async () => {
    console.log(JSON.stringify({ fileId, url: upload.url }))
    await tus.Upload.terminate(upload.url)
    console.log(JSON.stringify({ fileId, terminated: true }))
  },
})
upload.start()
