// A small line without axes, for the readings of one window.
import { useWidth } from "./width";

export function Spark({ values, height, label, style = 0 }: { values: (number | null)[]; height: number; label: string; style?: number }) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const known = values.filter((value): value is number => value !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  const x = (i: number) => 4 + ((width - 8) * i) / Math.max(1, values.length - 1);
  const y = (value: number) => 5 + (height - 10) * (high > low ? 1 - (value - low) / (high - low) : 0.5);
  let path = "";
  let pen = false;
  values.forEach((value, i) => {
    if (value === null) pen = false;
    else {
      path += `${pen ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = true;
    }
  });
  return (
    <div ref={holder} style={{ minHeight: `${height}px` }}>
      {width > 0 && known.length > 0 && (
        <svg role="img" aria-label={label} width={width} height={height}>
          <path d={path} fill="none" stroke={`var(--s${style + 1})`} stroke-width="1.6" stroke-linejoin="round" />
          {values.length <= 120 && values.map((value, i) => (value === null ? null : <circle key={i} cx={x(i)} cy={y(value)} r="2" fill={`var(--s${style + 1})`} />))}
        </svg>
      )}
    </div>
  );
}
