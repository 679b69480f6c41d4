// A matrix of shades: hour by weekday, bins over time.
import { number, with_unit } from "../format";
import { T } from "../texts";
import { useWidth } from "./width";

export interface Cell {
  value: number | null;
  title: string;
  marked: boolean;
}
export interface HeatProps {
  label: string;
  unit: string;
  columns: string[];
  rows: string[];
  /** By row, then by column; null: no such group. */
  cells: (Cell | null)[][];
  small?: boolean;
  /** Shades start at 0, as for counts. */
  from_zero?: boolean;
}

export function Heat({ label, unit, columns, rows, cells, small, from_zero }: HeatProps) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const values = cells.flat().flatMap((cell) => (cell?.value != null ? [cell.value] : []));
  const low = from_zero ? 0 : Math.min(...values);
  const high = Math.max(...values);
  const left = 12 + 8 * Math.max(...rows.map((row) => Math.min(row.length, 12)));
  const w = Math.max(0, width - left - 2) / columns.length;
  const h = Math.max(rows.length > 24 ? 8 : 13, Math.min(small ? 20 : 30, (small ? 220 : 420) / rows.length));
  const bottom = 22;
  const every = Math.max(1, Math.ceil((7.5 * Math.max(...columns.map((column) => column.length)) + 8) / Math.max(w, 1)));
  const every_row = Math.max(1, Math.ceil(13 / h));
  const share = (value: number) => (high > low ? (value - low) / (high - low) : 0.5);
  return (
    <div ref={holder}>
      {width > 0 && values.length > 0 && (
        <svg role="img" aria-label={label} width={width} height={rows.length * h + bottom} font-size="12" font-family="system-ui, sans-serif">
          {rows.map((row, y) =>
            y % every_row === 0 ? (
              <text key={y} x={left - 6} y={y * h + h / 2 + 4} text-anchor="end" fill="var(--soft)">
                {row.length > 12 ? `${row.slice(0, 11)}…` : row}
              </text>
            ) : null,
          )}
          {cells.map((line, y) =>
            line.map((cell, x) => {
              if (!cell) return null;
              const at = { x: left + x * w, y: y * h, width: Math.max(0.5, w - (w > 6 ? 1 : 0)), height: Math.max(0.5, h - 1) };
              return (
                <g key={`${x}/${y}`}>
                  <rect {...at} fill="var(--heat0)" stroke={cell.value === null ? "var(--line)" : "none"} />
                  {cell.value !== null && <rect {...at} fill="var(--heat1)" fill-opacity={share(cell.value).toFixed(3)} />}
                  {cell.marked && w > 8 && <path d={`M${at.x} ${at.y}h5l-5 5z`} fill="var(--warn)" />}
                  <title>{cell.title}</title>
                </g>
              );
            }),
          )}
          {columns.map((column, x) =>
            x % every === 0 ? (
              <text key={x} x={left + (x + 0.5) * w} y={rows.length * h + 15} text-anchor="middle" fill="var(--soft)">
                {column}
              </text>
            ) : null,
          )}
        </svg>
      )}
      {!small && values.length > 0 && (
        <p class="scale">
          {with_unit(number(low), unit)} <i class="ramp" aria-hidden="true" /> {with_unit(number(high), unit)}
          {cells.some((line) => line.some((cell) => cell?.marked)) && <span class="mark corner">{T.chart.missing_cell}</span>}
        </p>
      )}
    </div>
  );
}
