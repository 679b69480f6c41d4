// Directions: the bins of an angle around a circle, north above.
import { number } from "../format";
import { T } from "../texts";
import type { Row } from "../api";


export function Rose({ rows, label, size }: { rows: Row[]; label: string; size: number }) {
  const bins = rows.flatMap((row) => (row.bin && row.value !== null ? [{ from: row.bin[0], to: row.bin[1], value: row.value }] : []));
  const high = Math.max(...bins.map((bin) => bin.value), 1);
  const middle = size / 2;
  const radius = middle - 22;
  // Areas, not radii, are as large as the counts.
  const reach = (value: number) => radius * Math.sqrt(Math.max(0, value) / high);
  const at = (angle: number, r: number): string => {
    const turn = ((angle - 90) * Math.PI) / 180;
    return `${(middle + r * Math.cos(turn)).toFixed(2)} ${(middle + r * Math.sin(turn)).toFixed(2)}`;
  };
  return (
    <svg class="rose" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} width={size} height={size} font-size="12" font-family="system-ui, sans-serif">
      {[0.25, 0.5, 0.75, 1].map((share) => (
        <circle key={share} cx={middle} cy={middle} r={radius * Math.sqrt(share)} fill="none" stroke="var(--line)" />
      ))}
      {bins.map((bin) => (
        <path key={bin.from} fill="var(--s1)" fill-opacity="0.85" stroke="var(--paper)" d={`M${middle} ${middle}L${at(bin.from, reach(bin.value))}A${reach(bin.value)} ${reach(bin.value)} 0 ${bin.to - bin.from > 180 ? 1 : 0} 1 ${at(bin.to, reach(bin.value))}Z`}>
          <title>{`${number(bin.from)}°–${number(bin.to)}°: ${number(bin.value)}`}</title>
        </path>
      ))}
      {T.calendar.directions.map((point, i) => {
        const [x, y] = at(i * 90, radius + 12).split(" ");
        return (
          <text key={point} x={x} y={Number(y) + 4} text-anchor="middle" fill="var(--soft)">
            {point}
          </text>
        );
      })}
      <text x={middle + 4} y={middle - radius * Math.sqrt(0.5) - 3} fill="var(--soft)" font-size="11">
        {number(Math.round(high / 2))}
      </text>
    </svg>
  );
}
