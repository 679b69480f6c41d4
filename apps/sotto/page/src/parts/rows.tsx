// The rows of an answer as a table: the same as the chart, for everyone who does not see it.
import { useState } from "preact/hooks";
import type { Answer, Row } from "../api";
import { bound_text, local, ms_of, number, span, whole } from "../format";
import { T } from "../texts";
import { Table } from "./basic";
import { is_checked, subject } from "../charts/series";
import { cycle_of, cycles_of } from "../charts/kind";

/** Rows that one press of "show more" draws. */
const PAGE = 200;
const MOST = 2000;

const MIDNIGHT = "00:00";
/** A day is its date alone; other times have both ends. */
const time_of = (row: Row): string => {
  const [from, to] = [local(row.from), local(row.to)];
  const is_day = from.endsWith(MIDNIGHT) && to.endsWith(MIDNIGHT) && ms_of(row.to) - ms_of(row.from) <= 25 * 3_600_000;
  return is_day ? from.slice(0, 10) : span(row.from, row.to);
};

const group_of = (row: Row): string => {
  const cycles = cycles_of(row).map(([name, key]) => cycle_of(name, [key]).label(key));
  return [cycles.length > 0 ? cycles.join(" ") : time_of(row), row.bin ? `${number(row.bin[0])} – ${number(row.bin[1])}` : ""].filter(Boolean).join(", ");
};

export function Rows({ answer, label }: { answer: Answer; label: string }) {
  const [shown, set_shown] = useState(PAGE);
  const rows = answer.rows.slice(0, shown);
  const left = answer.rows.length - rows.length;
  const whom = answer.rows.some((row) => row.device !== null || row.tag);
  const at = answer.rows.some((row) => row.at);
  return (
    <Table
      label={T.rows.caption(label)}
      after={
        left > 0 &&
        (shown < MOST ? (
          <button onClick={() => set_shown(Math.min(MOST, shown * 3))}>{T.show_more(whole(left))}</button>
        ) : (
          <p class="help">{T.rows.rest(whole(left))}</p>
        ))
      }
    >
      <caption class="visually-hidden">{answer.question}</caption>
      <thead>
        <tr>
          <th scope="col">{T.rows.group}</th>
          {whom && <th scope="col">{T.rows.device}</th>}
          <th scope="col">{T.rows.name}</th>
          <th scope="col" class="n">{T.rows.value}</th>
          <th scope="col">{T.rows.bound}</th>
          {at && <th scope="col">{T.rows.at}</th>}
          <th scope="col" class="n">{T.rows.count}</th>
          <th scope="col" class="n">{T.rows.missing}</th>
          <th scope="col">{T.rows.assurance}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i} class={is_checked(answer, row) ? undefined : "unchecked"}>
            <td class="nowrap">{group_of(row)}</td>
            {whom && <td>{subject(row)}</td>}
            <td>{row.name}</td>
            <td class="n">
              {row.value === null ? (row.why ?? T.chart.no_value) : number(row.value, row.bound)} <small>{row.value === null ? "" : row.unit}{row.interpolated ? ` ${T.rows.interpolated}` : ""}</small>
            </td>
            <td class="nowrap">{bound_text(row.value, row.bound)}</td>
            {at && <td class="nowrap">{row.at ? local(row.at) : ""}</td>}
            <td class="n">{whole(row.count)}</td>
            <td class={row.missing > 0 ? "n warn" : "n"}>{whole(row.missing)}</td>
            <td>{row.assurance ?? answer.assurance ?? T.rows.unchecked}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
