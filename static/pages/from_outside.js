// @ts-check
/** The notice on a page that holds text from outside, and the button by which its owner vouches for it. */
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { seen } from "../runs/value.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

/** A mail rule acts by itself, so it does nothing while its page is marked. @param {string} path */
const isRule = (path) => /^mail-rules\/[^/]+$/.test(path);
/** @param {string} path */
const isAgent = (path) => /^agents\/[^/]+$/.test(path);
/** @param {string} path */
const acts = (path) => isRule(path) || isAgent(path);

/**
 * Whether a run with text from outside has written to the page. For a rule or an agent, which act by themselves, text
 * by another person, and text that svc wrote from mail or speech, count as well. Null while this is not known.
 * @param {PageDetail} page
 * @returns {[boolean | null, (marked: boolean) => void]}
 */
export function useMark(page) {
  const [marked, setMarked] = useState(/** @type {boolean | null} */ (null));
  useEffect(() => {
    let isWanted = true;
    setMarked(null);
    query("pages.trust", { path: page.path }).then((found) =>
      isWanted && setMarked(found.by === "run" || (found.fromOutside && acts(page.path))), () => {});
    return () => {
      isWanted = false;
    };
  }, [page.path, page.revision]);
  return [marked, setMarked];
}

/** @param {{ page: PageDetail, trusted: () => void }} props */
export function FromOutside({ page, trusted }) {
  const [problem, setProblem] = useState("");
  const [rule, agent] = [isRule(page.path), isAgent(page.path)];
  const trust = async () => {
    try {
      await mutate("pages.setTrusted", { path: page.path, revision: page.revision });
      trusted();
      toast(rule ? "It is used as a rule from now on." : "The page’s text is yours from now on.");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return html`<${Fragment}><div class="notice from-outside" role="status"><${Icon} name="warning" />
    <span>${rule ? html`This page holds text from others, so it does nothing as a rule. ${page.canShare
        && "Read it as it is written, below. Use it as a rule?"}`
      : agent ? html`This page holds text from others, so this agent asks you before it does what could do harm.
        ${page.canShare && "Read it as it is written, below. If it is fine, trust it."}`
      : html`An agent that had read text from outside has written here, so links that leave are text. Agents that read
        this page are held to ask you first. ${page.canShare && "Read it, and if it is fine, trust it."}`}</span>
    ${page.canShare && html`<button class="button small" onClick=${trust}>${rule ? "Use it as a rule" : "Trust it"}
      </button>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </div>
  ${acts(page.path) && html`<pre class="from-outside-text" tabindex="0" role="region"
    aria-label="The page as it is written">${seen(page.body)}</pre>`}</${Fragment}>`;
}
