// @ts-check
/** Where a person goes after signing in: only ever a page of this very origin. The server holds to the same rule. */

const HOME = "/";
const MAX_CHARS = 2_000;
const MAX_DECODINGS = 3;
const URL_SYMBOLS = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/?%#]*$/;
/** Browsers read `//`, `/\` and a control character between slashes as the start of another host. */
const STEERS = /\/\/|\\|[\x00-\x1f\x7f-\x9f]|(?:^|\/)\.\.?(?:\/|$)/;
/** Nobody is sent where a GET does something or answers no page, nor around in a circle. */
const NOT_A_PLACE = ["/auth/", "/oauth/", "/trpc/", "/login/"];

/** What the address of this page asks for, where it may be followed. */
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
