// @ts-check
/** Asks the providers for new mail when a person wants it: by a pull, a button or a command. */
import { signal } from "@preact/signals";
import { mutate } from "../rpc.js";
import { toast } from "../ui/toast.js";
import { accounts, loadAccounts } from "./accounts.js";

/** Whether a check is under way. */
export const checking = signal(false);

/** Skips accounts that this person may not check, or that have to be connected again first. @param {Account} one */
const canAsk = ({ access, state }) => access === "own" && state !== "disconnected" && state !== "reconnect";

/** Checks one account, or all. New mail appears in the list by itself. @param {string | null} accountId */
export async function checkMail(accountId) {
  const asked = (accounts.value ?? []).filter((one) => canAsk(one) && (accountId === null || one.id === accountId));
  if (checking.value || !asked.length) return;
  checking.value = true;
  try {
    await Promise.all(asked.map(({ id }) => mutate("mail.retryFailures", { accountId: id })));
    await loadAccounts();
    const away = accounts.value?.find((one) => one.state === "waiting" && asked.some(({ id }) => id === one.id));
    if (away) toast(`${away.address} can’t be reached now: ${away.problem ?? "it is tried again soon"}`, {
      tone: "error" });
    else toast("Your mail is up to date.");
  } catch (problem) {
    toast(`Could not check: ${problem instanceof Error ? problem.message : problem}`, { tone: "error" });
  } finally {
    checking.value = false;
  }
}
