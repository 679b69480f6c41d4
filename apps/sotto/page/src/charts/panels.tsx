// Series over time: a panel for each unit, a legend that shows and hides.
import { useMemo, useState } from "preact/hooks";
import { T } from "../texts";
import type { Series } from "./series";
import { span_of } from "./series";
import { Key, stands, TimeChart } from "./time";
import { useWidth } from "./width";

interface PanelsProps {
  series: Series[];
  zone: string;
  label: string;
  small: boolean;
  span: [number, number] | null;
  zoom?: ((from: number, to: number) => void) | undefined;
}
/** Series of a legend that start hidden: more lines than these nobody tells apart. */
const SHOWN = 8;
const UNITS = 4;

export function Panels({ series, zone, label, small, span, zoom }: PanelsProps) {
  const [hidden, set_hidden] = useState<ReadonlySet<string>>(new Set());
  const [all, set_all] = useState(false);
  // The same arrays for the same input: a chart draws again only if they differ.
  const [listed, units] = useMemo(() => {
    const listed = series.slice(0, all ? 40 : SHOWN);
    const names = [...new Set(listed.map((one) => one.unit))].slice(0, UNITS);
    return [listed, names.map((unit) => ({ unit, shown: listed.filter((one) => one.unit === unit && !hidden.has(one.key)) }))];
  }, [series, all, hidden]);
  const whole = useMemo(() => span ?? span_of(series), [series, span?.[0], span?.[1]]);
  const height = small ? (units.length > 1 ? 110 : 200) : units.length > 1 ? 220 : 380;
  const [holder, width] = useWidth<HTMLDivElement>();
  const standing = new Set(units.filter(({ shown }) => stands(shown, width)).map(({ unit }) => unit));
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    set_hidden(next);
  };
  return (
    <div ref={holder}>
      {units.map(({ unit, shown }) => (
        <div class="unit-panel" key={unit}>
          <p class="unit">{unit || T.chart.no_unit}</p>
          <Chart series={shown} zone={zone} label={`${label}${unit ? ` (${unit})` : ""}`} small={small} span={whole} height={height} {...(zoom ? { zoom } : {})} />
        </div>
      ))}
      {series.length > 1 && (
        <ul class={small ? "legend small" : "legend"} aria-label={T.chart.legend}>
          {listed.map((one) => (
            <li key={one.key}>
              {small ? (
                <span>
                  <Key of={one} column={standing.has(one.unit)} /> {one.label}
                </span>
              ) : (
                <button aria-pressed={!hidden.has(one.key)} title={T.chart.toggle} onClick={() => toggle(one.key)}>
                  <Key of={one} column={standing.has(one.unit)} /> {one.label}
                </button>
              )}
            </li>
          ))}
          {series.length > listed.length && !small && (
            <li>
              <button class="quiet" onClick={() => set_all(true)}>
                {T.more(series.length - listed.length)}
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

/** A panel whose series are all hidden keeps its place. */
function Chart(props: Parameters<typeof TimeChart>[0]) {
  return props.series.length === 0 ? <p class="help">{T.chart.all_hidden}</p> : <TimeChart {...props} />;
}
