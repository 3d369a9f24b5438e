// @ts-check
/** Ask the providers for new mail now, because a person wants to know: by a pull, a button or a command. */
import { signal } from "@preact/signals";
import { mutate } from "../rpc.js";
import { toast } from "../ui/toast.js";
import { accounts, loadAccounts } from "./accounts.js";

/** Whether it is under way. */
export const checking = signal(false);

/** Those that nobody here may ask, or that want to be connected again first, are passed over. @param {Account} one */
const canAsk = ({ access, state }) => access === "own" && state !== "disconnected" && state !== "reconnect";

/** Of one account, or of all. What came shows itself in the list. @param {string | null} accountId */
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
