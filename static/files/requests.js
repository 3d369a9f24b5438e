// @ts-check
/** A request with upload progress. It uses XMLHttpRequest, since fetch has no upload progress. */

/** A request without any progress for this long is aborted. */
const STALLED_MS = 30_000;

/**
 * @typedef {{ status: number, header: (name: string) => string | null, body: unknown }} Answer 0: no answer came
 * @param {{ method: string, url: string, headers: Record<string, string>, body?: Blob, signal: AbortSignal,
 *   progress?: (sent: number) => void }} wanted
 * @returns {Promise<Answer>}
 */
export function request({ method, url, headers, body, signal, progress }) {
  return new Promise((resolve) => {
    const call = new XMLHttpRequest();
    let timer = setTimeout(stop, STALLED_MS);
    const moves = () => {
      clearTimeout(timer);
      timer = setTimeout(stop, STALLED_MS);
    };
    function stop() {
      call.abort();
    }
    call.open(method, url);
    for (const [name, value] of Object.entries(headers)) call.setRequestHeader(name, value);
    call.responseType = "json";
    call.upload.onprogress = (event) => {
      moves();
      progress?.(event.loaded);
    };
    call.upload.onload = moves;
    call.onloadend = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve({ status: call.status, header: (name) => call.getResponseHeader(name), body: call.response });
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    else call.send(body ?? null);
  });
}
