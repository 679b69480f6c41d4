// Below a chart: assurance, coverage, notes, and how complete it is.
import type { Answer } from "../api";
import { bytes, duration, local, whole } from "../format";
import { T } from "../texts";
import { is_checked } from "../charts/series";
import { Note } from "./basic";

export function Below({ answer }: { answer: Answer }) {
  const unchecked = answer.rows.filter((row) => row.value !== null && !is_checked(answer, row)).length;
  const held = answer.rows.filter((row) => row.held_back).length;
  const left_out = Object.entries(answer.left_out).flatMap(([channel, reasons]) => Object.entries(reasons).map(([reason, count]) => `${channel}: ${T.left_out(whole(count), reason)}`));
  // Histograms repeat the count in each row; the largest row says how much was there.
  const missing = Math.max(0, ...answer.rows.map((row) => row.missing));
  const lacking = answer.rows.filter((row) => row.missing > 0).length;
  return (
    <div class="below">
      <p>
        <span class={unchecked > 0 ? "pill alert" : "pill"}>{unchecked > 0 ? T.below.unchecked(whole(unchecked)) : (answer.assurance ?? T.below.checked)}</span>
        <span class="pill">{T.below.cost(whole(answer.windows), bytes(answer.bytes_up), bytes(answer.bytes_down), duration(answer.seconds * 1000))}</span>
        {lacking > 0 && <span class="pill warn">{T.below.missing(lacking, whole(missing))}</span>}
        {left_out.length > 0 && <span class="pill">{T.below.left_out(left_out.slice(0, 6).join("; "))}</span>}
      </p>
      {held > 0 && <Note warn>{T.below.held(held)}</Note>}
      {answer.empty && <Note warn>{T.below.empty(words_of_empty(answer.empty))}</Note>}
      {answer.notes.slice(0, 12).map((note, i) => (
        <Note key={i}>{note}</Note>
      ))}
      {(answer.complete?.length ?? 0) > 0 && (
        <ul class="complete">
          {answer.complete!.slice(0, 20).map((one) => (
            <li key={`${one.device}/${one.stream}`} class={one.gaps ? "warn" : undefined}>
              {T.below.complete(one.device, one.stream, local(one.until, true), one.gaps ?? false)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The server's own words of the way out, whatever their field is called. */
function words_of_empty(empty: NonNullable<Answer["empty"]>): string {
  const texts = Object.values(empty).filter((value): value is string => typeof value === "string");
  return texts.join(" ");
}
