// Two OpenID providers that we did not write, for tests. Wants the cache's node_modules and one JSON line of settings:
// { provider: "certified" | "documents" | "mock", client: {...}, accounts: {...}, algorithm, authentication, inToken }.
// For "documents": { documents: { address: text }, scope }.
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

const KEPT = ["RefreshToken", "IdToken", "Session", "Grant", "Interaction"]; // for ten minutes
let lie = {};
await { mock: serveMock, documents: serveDocuments, certified: serveCertified }[settings.provider]();
createInterface({ input: process.stdin })
  .on("line", (line) => {
    lie = JSON.parse(line);
    console.log("done");
  })
  .on("close", () => process.exit(0));

/** npm oidc-provider, which the OpenID Foundation certified: consent screens, PKCE, one-time codes. */
async function serveCertified() {
  await serve({
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
  });
}

/** The same for a resource: it knows no clients, and reads the document at the address that is a client's id. */
async function serveDocuments() {
  const jwt = { scope: settings.scope, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } };
  await serve({
    accessTokenS: 30, // so each use renews it
    clientAuthMethods: ["none"],
    fetch: async (address) => {
      const text = settings.documents[String(address)];
      return new Response(text ?? "", { status: text === undefined ? 404 : 200 });
    },
    issueRefreshToken: async () => true,
    features: {
      clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_, resource) => ({ ...jwt, audience: resource }),
        useGrantedResource: async () => true,
      },
    },
  });
}

async function serve({ features, accessTokenS = 600, ...special }) {
  const { default: Provider } = await load("oidc-provider");
  const { exportJWK, generateKeyPair } = await load("jose");
  const keys = [];
  for (const alg of new Set(["RS256", settings.algorithm])) {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    keys.push({ ...(await exportJWK(privateKey)), alg, use: "sig", kid: `key-${alg}` });
  }
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    jwks: { keys },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true }, ...features },
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...settings.accounts[id] }) }),
    ttl: { AccessToken: accessTokenS, AuthorizationCode: 60, ...Object.fromEntries(KEPT.map((kind) => [kind, 600])) },
    ...special,
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
