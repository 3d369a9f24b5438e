// @ts-check
/** Backups: their state, the points in time that can be restored, and the restoring. For admins. */
import { useEffect } from "preact/hooks";
import { now } from "../now.js";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { ago, duration, fileSize, fullTime, number, plural } from "../ui/format.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { changes } from "./news.js";
import { RecoveryCode } from "./recovery_code.js";
import { Timeline } from "./timeline.js";

/** @typedef {OutputOf<"backup.status">} Status */

const LOOK_AGAIN_MS = 5_000;

export function BackupsSection() {
  const status = useFetched("backup.status");
  const told = changes.value;
  const found = status.data;
  const busy = found?.restore?.running ?? false;
  useEffect(() => {
    if (told > 0) void status.load();
  }, [told]);
  useEffect(() => {
    if (!busy) return undefined;
    const timer = setInterval(() => void status.load(), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [busy]);
  return html`<section class="setting" aria-labelledby="backup-title">
      <h2 id="backup-title">Backup</h2>
      <${Pending} of=${status} what="how backups stand" />
      ${found && (found.archiving.enabled ? html`<${Archive} status=${found} load=${status.load} />`
        : html`<${Nothing} icon="backup" title="Nothing is backed up">
          <p>If this disk fails, everything here is lost. Choose where copies go: a folder on another disk, or a
            bucket.</p>
          <p class="fine">Set on the server, with a restart: <code>ARCHIVE_FILE_PREFIX</code> for a folder,${" "}
            <code>ARCHIVE_S3_PREFIX</code> for a bucket; <code>svc --help</code> names the others.</p></${Nothing}>`)}
    </section>
    ${found?.archiving.enabled && html`
      <${RecoveryCode} known=${found.recoveryCode} fingerprint=${found.fingerprint} load=${status.load} />
      <${Points} status=${found} load=${status.load} />
      <${Drill} status=${found} load=${status.load} />`}
    ${found && html`<${AsFiles} snapshots=${found.snapshots} />`}`;
}

/** The export of everything as one file, and the snapshots of pages. @param {Pick<Status, "snapshots">} props */
function AsFiles({ snapshots }) {
  const [newest] = snapshots;
  return html`<section class="setting" aria-labelledby="as-files-title">
    <h2 id="as-files-title">Everything as one file</h2>
    <p>Mail, pages, files and the rest in open formats, which other programs read, too. A new server takes it in with
      ${" "}<code>svc import</code>.</p>
    <p><a class="button" href="/export" download>Download everything</a></p>
    <p class="fine">${newest ? html`Pages were in a snapshot <time dateTime=${newest.at}
      title=${fullTime(newest.at)}>${ago(newest.at, now.value)}</time>; ${snapshots.length} ${snapshots.length === 1
      ? "is" : "are"} kept.` : html`No snapshots of pages are made. Set on the server:${" "}
      <code>SNAPSHOT_REPOSITORY</code>, which says where they go.`}</p>
  </section>`;
}

/** @param {{ status: Status, load: () => Promise<void> }} props */
function Archive({ status, load }) {
  const { archiving, replica, baseBackups } = status;
  const backUp = async () => {
    const made = await mutate("backup.now");
    toast(`A full copy of ${fileSize(made.bytes)} is in the archive.`);
    await load();
  };
  const [newest] = baseBackups;
  return html`
    ${archiving.problem && html`<${Bad} text=${archiving.problem} />`}
    ${replica.problem && html`<${Bad} text=${replica.problem} />`}
    <dl class="backup-facts">
      <dt>Kept at</dt><dd><code>${archiving.target}</code>${archiving.sameDisk && html` <span class="fine">on the
        disk of the home: if that disk fails, both are lost</span>`}</dd>
      <dt>Last sent</dt><dd>${archiving.lastAt ? html`<${Moment} at=${archiving.lastAt} />` : "nothing yet"}
        ${archiving.unsentBytes > 0 && ` · ${fileSize(archiving.unsentBytes)} to send`}</dd>
      <dt>Full copies</dt><dd>${baseBackups.length === 0 ? "none yet"
        : html`${number(baseBackups.length)}, the newest <${Moment} at=${newest?.at ?? ""} />,${" "}
          ${fileSize(newest?.bytes ?? 0)}`}</dd>
      ${status.baseBegunAt && html`<dt>Being sent</dt><dd>one that was begun <${Moment} at=${status.baseBegunAt} />;
        what is written meanwhile is sent, too</dd>`}
      ${status.nextAt && html`<dt>Next full copy</dt><dd>${fullTime(status.nextAt)}</dd>`}
      <dt>Mail and files</dt><dd>${!replica.enabled ? html`not copied yet: they need a place of their own${" "}
        <span class="fine">(set on the server: <code>SVC_BLOB_REPLICA_URL</code>)</span>`
        : replica.pending === 0 ? "all copied" : `${number(replica.pending)} on their way`}</dd>
    </dl>
    <${ConfirmButton} label="Back up now" run=${backUp} />`;
}

/** @param {{ status: Status, load: () => Promise<void> }} props */
function Points({ status, load }) {
  const { recoveryPoints, pointCount, restore } = status;
  const bringBack = async (/** @type {string | undefined} */ point) => {
    const begun = await mutate("backup.restore", point === undefined ? {} : { point });
    toast(`Restoring into ${begun.into}.`);
    await load();
  };
  return html`<section class="setting" aria-labelledby="points-title">
    <h2 id="points-title">Go back to a moment</h2>
    <p class="fine">Restores everything as it was then into a new folder on the server; nothing here changes. The
      command <code>svc restore --at</code> also restores moments in between.</p>
    ${status.waitsFor && html`<p class="quiet-text" role="status">${recoveryPoints.length > 0 ? "No newer moment yet"
      : "No moment yet"}. ${status.waitsFor}</p>`}
    ${restore && html`<${Restore} restore=${restore} />`}
    ${recoveryPoints.length > 0 && html`<${Timeline} points=${recoveryPoints} run=${bringBack} />
      ${pointCount > recoveryPoints.length && html`<p class="fine">And
        ${plural(pointCount - recoveryPoints.length, "older one")}.</p>`}`}
    <${ConfirmButton} label="Restore the newest state to a new folder" run=${() => bringBack(undefined)} />
  </section>`;
}

/** @param {{ restore: NonNullable<Status["restore"]> }} props */
function Restore({ restore }) {
  const { into, running, lines, notes, problem } = restore;
  return html`<div class=${`notice ${problem ? "bad" : ""}`} role="status">
    <${Icon} name=${problem ? "warning" : "backup"} /><div>
    <p>${problem ? `Nothing was restored: ${problem}.` : running ? `Restoring into ${into}`
      : `Restored and checked: ${into}`}</p>
    ${running && lines.length > 0 && html`<p>${lines.at(-1)}</p>`}
    ${notes.map((note) => html`<p key=${note}>${note}</p>`)}
    ${!running && !problem && html`<p>To use it, stop the service and start it with${" "}
      <code>SVC_HOME=${into}</code>.</p>`}
  </div></div>`;
}

/** @param {{ status: Status, load: () => Promise<void> }} props */
function Drill({ status, load }) {
  const { drill } = status;
  const tryIt = async () => {
    const found = await mutate("backup.drill");
    await load();
    if (!found.ok) throw new Error(found.problem ?? "It failed.");
    toast("Restored and checked.");
  };
  return html`<section class="setting" aria-labelledby="drill-title">
    <h2 id="drill-title">Nightly restore test</h2>
    ${drill?.ok && html`<p>Restored and checked <${Moment} at=${drill.at} />, in${" "}
      ${duration(Math.max(1, Math.round(drill.seconds)))}.${drill.older && html` So was the database as it was at${" "}
      <time dateTime=${drill.older}>${fullTime(drill.older)}</time>, a moment that is chosen anew each night.`}</p>`}
    ${drill && !drill.ok && html`<${Bad} text=${`It failed ${ago(drill.at, now.value)}: ${drill.problem}.`} />`}
    ${!drill && html`<p class="quiet-text">Not tried yet. Each night the archive is restored into a folder, checked
      and removed.</p>`}
    ${!status.drillEnabled && html`<p class="fine">It is off at night. Set on the server:${" "}
      <code>SVC_BACKUP_DRILL</code></p>`}
    <${ConfirmButton} label="Try it now" run=${tryIt} />
  </section>`;
}

/** @param {{ text: string }} props */
function Bad({ text }) {
  return html`<div class="notice bad" role="status"><${Icon} name="warning" /><p>${text}</p></div>`;
}

/** @param {{ at: string }} props */
function Moment({ at }) {
  return html`<span title=${fullTime(at)}>${ago(at, now.value)}</span>`;
}
