// @ts-check
/** The address to go to after the sign-in: only a page of this origin. The server applies the same rule. */

const HOME = "/";
const MAX_CHARS = 2_000;
const MAX_DECODINGS = 3;
const URL_SYMBOLS = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/?%#]*$/;
/** Browsers read `//`, `/\` and a control character between slashes as the start of another host. */
const STEERS = /\/\/|\\|[\x00-\x1f\x7f-\x9f]|(?:^|\/)\.\.?(?:\/|$)/;
/** Addresses where a GET has an effect or returns no page, and the login page itself, which would be a loop. */
const NOT_A_PLACE = ["/auth/", "/oauth/", "/trpc/", "/login/"];

/** The `next` of this page's address if it is allowed, else the home page. */
export function nextPath() {
  return safeNext(new URLSearchParams(location.search).get("next") ?? HOME);
}

/** @param {string} wanted */
export function safeNext(wanted) {
  if (wanted.length > MAX_CHARS || !URL_SYMBOLS.test(wanted)) return HOME;
  let path = wanted.replace(/[?#].*$/, "");
  for (let round = 0; round < MAX_DECODINGS; round += 1) {
    if (STEERS.test(path) || NOT_A_PLACE.some((one) => `${path.toLowerCase()}/`.startsWith(one))) return HOME;
    const decoded = unquoted(path);
    if (decoded === path) return wanted;
    if (decoded === null) return HOME;
    path = decoded;
  }
  return HOME;
}

/** @param {string} path */
function unquoted(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
