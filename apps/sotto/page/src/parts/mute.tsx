// Mutes and unmutes an alarm, with a reason that its log keeps.
import { useState } from "preact/hooks";
import { T } from "../texts";
import { duration } from "../format";
import { order } from "../views/alarms";
import { Action, Choice, Dialog } from "./basic";

const HOUR = 3_600_000;
const TIMES: [string, number][] = [
  [duration(HOUR), HOUR],
  [duration(8 * HOUR), 8 * HOUR],
  [duration(24 * HOUR), 24 * HOUR],
];

export function Mute({ alarm, devices, muted }: { alarm: string; devices: string[]; muted: boolean }) {
  const [open, set_open] = useState<"mute" | "unmute" | null>(null);
  const [time, set_time] = useState(TIMES[0]![0]);
  const [hours, set_hours] = useState("3");
  const [reason, set_reason] = useState("");
  const [device, set_device] = useState("");
  const custom = Number(hours);
  const for_ms = TIMES.find(([name]) => name === time)?.[1] ?? custom * HOUR;
  const body = { ...(reason.trim() ? { reason: reason.trim() } : {}), ...(device ? { device } : {}) };
  return (
    <>
      <button onClick={() => set_open("mute")}>{T.alarms.mute}</button>
      {muted && <button onClick={() => set_open("unmute")}>{T.alarms.unmute}</button>}
      {open && (
        <Dialog title={open === "mute" ? T.alarms.mute_title(alarm) : T.alarms.unmute_title(alarm)} close={() => set_open(null)}>
          {open === "mute" && (
            <div class="row">
              <Choice label={T.alarms.mute_for} value={time} of={[...TIMES.map(([name]): [string, string] => [name, name]), ["custom", T.alarms.custom]]} choose={set_time} />
              {time === "custom" && (
                <div class="row">
                  <input aria-label={T.alarms.hours} inputMode="decimal" size={5} value={hours} onInput={(event) => set_hours(event.currentTarget.value)} /> {T.alarms.hours}
                </div>
              )}
            </div>
          )}
          <div class="field">
            <label for="mute-device">{T.alarms.whom}</label>
            <select id="mute-device" value={device} onChange={(event) => set_device(event.currentTarget.value)}>
              <option value="">{T.alarms.all_devices}</option>
              {devices.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
          <div class="field">
            <label for="mute-reason">{T.alarms.reason}</label>
            <input id="mute-reason" value={reason} onInput={(event) => set_reason(event.currentTarget.value)} />
          </div>
          <div class="row actions">
            <Action
              kind="primary"
              disabled={open === "mute" && !(for_ms > 0)}
              run={async () => {
                await order(alarm, open, open === "mute" ? { ...body, for_ms: Math.round(for_ms) } : body);
                set_open(null);
              }}
            >
              {open === "mute" ? T.alarms.mute : T.alarms.unmute}
            </Action>
            <button onClick={() => set_open(null)}>{T.cancel}</button>
          </div>
        </Dialog>
      )}
    </>
  );
}
