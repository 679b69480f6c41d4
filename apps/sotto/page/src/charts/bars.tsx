// Columns over categories: bins of a histogram, hours of the day. And ranked bars that lie.
import { bound_text, number, with_unit } from "../format";
import { ticks } from "./axis";
import { useWidth } from "./width";

export interface Bar {
  label: string;
  value: number | null;
  bound: number | null;
  unit: string;
  title: string;
  /** Missing readings or unchecked. */
  marked: boolean;
}
interface BarsProps {
  label: string;
  bars: Bar[];
  height: number;
  /** Columns touch each other, and labels are those of their left edges. */
  edges?: string | undefined;
  style?: number;
}

export function Bars({ label, bars, height, edges, style = 0 }: BarsProps) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const values = bars.flatMap((bar) => (bar.value === null ? [] : [bar.value - (bar.bound ?? 0), bar.value + (bar.bound ?? 0)]));
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values) || 1;
  const lines = ticks(low, high, height / 44);
  const left = 14 + 7 * Math.max(...lines.map((line) => number(line).length));
  const bottom = 24;
  const plot = height - bottom - 8;
  const w = Math.max(0, width - left - 8) / bars.length;
  const y = (value: number) => 8 + plot * (1 - (value - low) / (high - low));
  const every = Math.max(1, Math.ceil((7 * Math.max(...bars.map((bar) => bar.label.length)) + 10) / Math.max(w, 1)));
  return (
    <div ref={holder} style={{ minHeight: `${height}px` }}>
      {width > 0 && (
        <svg role="img" aria-label={label} width={width} height={height} font-size="12" font-family="system-ui, sans-serif">
          {lines.map((line) => (
            <g key={line}>
              <line x1={left} x2={width - 8} y1={y(line)} y2={y(line)} stroke={line === 0 ? "var(--edge)" : "var(--line)"} />
              <text x={left - 6} y={y(line) + 4} text-anchor="end" fill="var(--soft)">
                {number(line)}
              </text>
            </g>
          ))}
          {bars.map((bar, i) => {
            const x = left + i * w;
            if (bar.value === null) return null;
            const top = y(Math.max(0, bar.value));
            const gap = edges !== undefined ? 0.5 : Math.min(6, w * 0.15);
            return (
              <g key={i}>
                <rect x={x + gap} y={top} width={Math.max(0.5, w - 2 * gap)} height={Math.max(bar.value === 0 ? 0 : 1, Math.abs(y(bar.value) - y(0)))} fill={`var(--s${style + 1})`} fill-opacity={bar.marked ? 0.55 : 0.9} />
                {bar.bound !== null && bar.bound > (high - low) / 500 && (
                  <path d={`M${x + w / 2} ${y(bar.value - bar.bound)}V${y(bar.value + bar.bound)}`} stroke="var(--ink)" stroke-width="1.2" />
                )}
                {/* The whole height answers the pointer. */}
                <rect x={x} y={8} width={w} height={plot} fill="transparent">
                  <title>{bar.title}</title>
                </rect>
              </g>
            );
          })}
          {bars.map((bar, i) =>
            i % every === 0 ? (
              <text key={i} x={left + i * w + (edges !== undefined ? 0 : w / 2)} y={height - 8} text-anchor="middle" fill="var(--soft)">
                {bar.label}
              </text>
            ) : null,
          )}
          {edges !== undefined && ((bars.length - 1) % every !== 0 || w > 10.5 * edges.length + 10) && (
            <text x={left + bars.length * w} y={height - 8} text-anchor="end" fill="var(--soft)">
              {edges}
            </text>
          )}
        </svg>
      )}
    </div>
  );
}

export function Ranking({ label, bars }: { label: string; bars: Bar[] }) {
  const values = bars.map((bar) => Math.abs(bar.value ?? 0));
  const high = Math.max(...values, 1e-300);
  return (
    <ol class="ranking" aria-label={label}>
      {bars.map((bar, i) => (
        <li key={i} title={bar.title}>
          <span class="name">{bar.label}</span>
          <svg width="100%" height="10" aria-hidden="true">
            <rect width={`${((100 * Math.abs(bar.value ?? 0)) / high).toFixed(2)}%`} height="10" fill="var(--s1)" fill-opacity={bar.marked ? 0.55 : 0.9} />
          </svg>
          <span class="value">
            {with_unit(number(bar.value, bar.bound), bar.unit)} <small>{bound_text(bar.value, bar.bound)}</small>
          </span>
        </li>
      ))}
    </ol>
  );
}
