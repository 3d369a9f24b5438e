// @ts-check
/**
 * The invitation in a message as a card: when (in the reader's time zone), where, with whom, its conflicts, and the
 * answer. The server decides which state of the invitation counts. An answer is sent like any mail, and can be taken
 * back while it is held.
 */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { daysOf, timesOf } from "./invitation_times.js";

/** @typedef {MailInvitationOut} Invitation */
/** @typedef {"accepted" | "tentative" | "declined"} Answer */

/** @type {[Answer, string, string][]} */
const ANSWERS = [["accepted", "Accept", "You accepted."], ["tentative", "Maybe", "You may come."],
  ["declined", "Decline", "You declined."]];
/** The organizer's answers to another person's proposal of a new time. @type {[Answer, string, string][]} */
const TO_PROPOSAL = [["accepted", "Move the meeting", "You moved the meeting."],
  ["declined", "Keep the time", "You kept the time."]];
/** @type {Record<string, string>} */
const TOLD = { accepted: "Everybody invited is", declined: "Who proposed it is" };
/** @type {Record<string, string>} */
const DID = { accepted: "accepted", declined: "declined", tentative: "may come" };
const MAX_NAMED = 8;

/** @param {{ message: Message }} props */
export function InvitationCard({ message }) {
  const [invitation, setInvitation] = useState(/** @type {Invitation | null} */ (null));
  const [asked, setAsked] = useState(0);
  const [problem, setProblem] = useState("");
  const wanted = message.attachments.some(isCalendar);
  useEffect(() => {
    let left = false;
    if (wanted) {
      query("mail.invitation", { messageId: message.id })
        .then((found) => left || setInvitation(found))
        .catch((error) => left || setProblem(error instanceof Error ? error.message : String(error)));
    }
    return () => {
      left = true;
    };
  }, [message.id, wanted, asked]);
  if (problem) return html`<p class="invitation-problem" role="alert">The invitation can’t be shown: ${problem}</p>`;
  if (!invitation) return null;
  return html`<section class="invitation" aria-label=${`Invitation: ${invitation.summary || "(no title)"}`}>
    <${When} invitation=${invitation} />
    <div class="invitation-words">
      <p class="invitation-kind">${kindOf(invitation)}</p>
      <h2><bdi>${invitation.summary || "(no title)"}</bdi></h2>
      <${Facts} invitation=${invitation} />
      ${invitation.warnings.map((words) => html`<p class="invitation-warning" key=${words}>
        <${Icon} name="warning" size=${15} /> <bdi>${words}</bdi></p>`)}
      <${Conflicts} invitation=${invitation} />
      <${Answers} invitation=${invitation} messageId=${message.id} again=${() => setAsked((count) => count + 1)} />
    </div>
  </section>`;
}

/** @param {{ invitation: Invitation }} props */
function When({ invitation }) {
  const { day, month } = daysOf(invitation.start);
  return html`<div class=${`invitation-day${invitation.state === "cancelled" ? " off" : ""}`} aria-hidden="true">
    <span>${month}</span><b>${day}</b></div>`;
}

/** @param {{ invitation: Invitation }} props */
function Facts({ invitation }) {
  const { location, recurrence, organizer, attendees, comment } = invitation;
  const named = attendees.slice(0, MAX_NAMED).map(({ name, address }) => name || address);
  const more = attendees.length - named.length;
  return html`<dl class="invitation-facts">
    <dt class="sr-only">When</dt><dd><${Icon} name="clock" size=${15} /> <span>${timesOf(invitation)}
      ${recurrence && html`<br />${recurrence}`}
      ${invitation.planned && html`<br />now planned for
        ${" "}${timesOf({ ...invitation, ...invitation.planned })}`}</span></dd>
    ${location && html`<dt class="sr-only">Where</dt><dd><${Icon} name="place" size=${15} />
      <bdi>${location}</bdi></dd>`}
    ${(organizer || named.length > 0) && html`<dt class="sr-only">With</dt><dd><${Icon} name="people" size=${15} />
      <bdi>${organizer && `${organizer.name || organizer.address} invites`}${organizer && named.length > 0 && ": "}
        ${named.join(", ")}${more > 0 && ` and ${plural(more, "other")}`}</bdi></dd>`}
    ${comment && html`<dt class="sr-only">Comment</dt><dd><${Icon} name="edit" size=${15} />
      <bdi>${comment}</bdi></dd>`}
  </dl>`;
}

/** @param {{ invitation: Invitation }} props */
function Conflicts({ invitation: { conflicts, state } }) {
  if (!conflicts.length || state === "cancelled") return null;
  return html`<div class="invitation-warning"><${Icon} name="warning" size=${15} />
    <span>You accepted something else then: ${conflicts.map(({ uid, summary, start, end }, index) =>
      html`${index > 0 && "; "}<bdi key=${uid + start}>${summary || "(no title)"},
        ${" "}${timesOf({ start, end, allDay: false, zoneKnown: true })}</bdi>`)}</span></div>`;
}

/** @param {{ invitation: Invitation, messageId: string, again: () => void }} props */
function Answers({ invitation, messageId, again }) {
  const [busy, setBusy] = useState(false);
  const { state, answer, planned } = invitation;
  const isProposal = invitation.method === "COUNTER";
  const answers = isProposal ? TO_PROPOSAL.filter(([name]) => planned || name !== "accepted") : ANSWERS;
  if (state === "cancelled") return html`<p class="invitation-state">This meeting was called off.</p>`;
  if (state === "updated") return html`<p class="invitation-state">A later version of this invitation came.</p>`;
  if (state === "information") return null;
  /** @param {Answer} wanted */
  const give = async (wanted) => {
    setBusy(true);
    await giveAnswer(messageId, wanted, isProposal ? `${TOLD[wanted]} told.` : "The organizer is told.", again);
    setBusy(false);
  };
  return html`<div class="invitation-answers" role="group" aria-label="Your answer">
    ${answers.map(([name, label]) => html`<button key=${name}
      class=${`button small${answer === name ? " primary" : ""}`} disabled=${busy}
      aria-pressed=${answer === name ? "true" : "false"} onClick=${() => void give(name)}>
      ${answer === name && html`<${Icon} name="check" size=${14} /> `}${label}</button>`)}
    <span class="invitation-state" role="status">${answers.find(([name]) => name === answer)?.[2]
      ?? (isProposal && hintOf(planned))}</span>
  </div>`;
}

/** @param {Invitation["planned"]} planned */
function hintOf(planned) {
  return planned ? "Move it in your own calendar, too." : "To move the meeting, use your calendar.";
}

/** @param {string} messageId @param {Answer} answer @param {string} words @param {() => void} again */
async function giveAnswer(messageId, answer, words, again) {
  try {
    const { outgoingId } = await mutate("mail.answerInvitation", { messageId, answer });
    toast(words, {
      action: {
        label: "Undo",
        run: () => void mutate("mail.cancelSend", { id: outgoingId }).then(again, told),
      },
    });
  } catch (error) {
    told(error);
  }
  again();
}

/** @param {Invitation} invitation */
function kindOf({ method, attendees, recurrenceId, state, proposer }) {
  const whose = attendees.find(({ address }) => address === proposer) ?? attendees[0];
  const who = whose ? whose.name || whose.address : "Somebody";
  if (method === "REPLY") return `${who} ${DID[attendees[0]?.answer ?? ""] ?? "answered"}`;
  if (method === "COUNTER") return `${who} proposes another time`;
  if (method === "DECLINECOUNTER") return "The organizer keeps the time";
  if (state === "cancelled") return "Called off";
  if (method === "REQUEST") return recurrenceId ? "Invitation to one date of a series" : "Invitation";
  return "Event";
}

/** @param {Attachment} attachment */
function isCalendar({ mime, filename }) {
  return mime === "text/calendar" || mime === "application/ics" || filename.toLowerCase().endsWith(".ics");
}

/** @param {unknown} error */
function told(error) {
  toast(error instanceof Error ? error.message : String(error), { tone: "error" });
}
