// Two OpenID providers that we did not write, for tests. Wants the cache's node_modules and one JSON line of settings:
// { provider: "certified" | "mock", client: {...}, accounts: {...}, algorithm, authentication, inToken }.
// Prints { port } when it serves. A line of its input tells the mock how to lie from then on; the end of it ends it.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const settings = JSON.parse(process.argv[3]);
const resolve = createRequire(join(modules, "index.js")).resolve;
const load = async (name) => import(pathToFileURL(resolve(name)).href);

let lie = {};
await (settings.provider === "mock" ? serveMock() : serveCertified());
createInterface({ input: process.stdin })
  .on("line", (line) => {
    lie = JSON.parse(line);
    console.log("done");
  })
  .on("close", () => process.exit(0));

/** npm oidc-provider, which the OpenID Foundation certified: consent screens, PKCE, one-time codes. */
async function serveCertified() {
  const { default: Provider } = await load("oidc-provider");
  const { exportJWK, generateKeyPair } = await load("jose");
  const keys = [];
  for (const alg of new Set(["RS256", settings.algorithm])) {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    keys.push({ ...(await exportJWK(privateKey)), alg, use: "sig", kid: `key-${alg}` });
  }
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys },
    clients: [
      {
        ...settings.client,
        grant_types: ["authorization_code"],
        response_types: ["code"],
        token_endpoint_auth_method: settings.authentication,
        id_token_signed_response_alg: settings.algorithm,
      },
    ],
    clientAuthMethods: [settings.authentication],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: !settings.inToken,
    enabledJWA: { idTokenSigningAlgValues: ["RS256", settings.algorithm] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...settings.accounts[id] }) }),
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Session: 600, Grant: 600, Interaction: 600 },
  });
  server.on("request", provider.callback());
  console.log(JSON.stringify({ port: server.address().port }));
}

/** npm oauth2-mock-server: signs in at once, and changes any token on its way out. */
async function serveMock() {
  const { OAuth2Server } = await load("oauth2-mock-server");
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  const { port } = server.address();
  server.issuer.url = `http://127.0.0.1:${port}`;
  server.service.on("beforeTokenSigning", (token) => {
    const [[sub, account]] = Object.entries(settings.accounts);
    Object.assign(token.payload, { sub, ...account, ...lie.claims });
    Object.assign(token.header, lie.header);
  });
  server.service.on("beforeResponse", (response) => {
    const [header, payload, signature] = (response.body.id_token ?? "").split(".");
    if (lie.tamper) {
      const claims = { ...JSON.parse(Buffer.from(payload, "base64url")), ...lie.tamper };
      response.body.id_token = [header, encoded(claims), signature].join(".");
    }
    if (lie.unsigned) response.body.id_token = [encoded({ alg: "none" }), payload, ""].join(".");
  });
  console.log(JSON.stringify({ port }));
}

function encoded(record) {
  return Buffer.from(JSON.stringify(record)).toString("base64url");
}
