// Alarms: the lasting ones first, each with when, why, and the devices.
import { useState } from "preact/hooks";
import type { AlarmEvent, AlarmState, DeviceAlarm } from "../api";
import { post } from "../client";
import { change, server_now, shared, useShared, useTick } from "../store";
import { address } from "../route";
import { T } from "../texts";
import { ago, bound_text, local, ms_of, number, with_unit } from "../format";
import { Action, Note, Words } from "../parts/basic";
import { Mute } from "../parts/mute";

const lasting = (alarm: AlarmState) => alarm.devices.some((one) => one.raised_since !== null);
const failing = (alarm: AlarmState) => alarm.failed !== undefined || alarm.devices.some((one) => one.failing !== null);
const rank = (alarm: AlarmState) => (lasting(alarm) ? 0 : failing(alarm) ? 1 : 2);

/** Puts the server's new state of one alarm in the place of the old one, before the next line of events says the same. */
export async function order(alarm: string, verb: "mute" | "unmute" | "acknowledge", body: object): Promise<void> {
  const state = await post<AlarmState>(`/api/alarms/${encodeURIComponent(alarm)}/${verb}`, body);
  const now = shared().now;
  if (now) change({ now: { ...now, alarms: now.alarms.map((one) => (one.alarm === alarm ? state : one)) } });
}

export function AlarmsView() {
  const { now, plant } = useShared();
  useTick(1000);
  if (!now) return <p class="loading">{T.loading}</p>;
  const alarms = [...now.alarms].sort((a, b) => rank(a) - rank(b) || a.alarm.localeCompare(b.alarm));
  return (
    <>
      <h1>{T.views.alarms}</h1>
      {alarms.length === 0 && <p><Words of={T.alarms.none} /></p>}
      {alarms.length > 0 && <p class="lead">{T.alarms.summary(alarms.filter(lasting).length, alarms.filter(failing).length, alarms.length)}</p>}
      <div class="alarms">
        {alarms.slice(0, 200).map((alarm) => (
          <Alarm key={alarm.alarm} alarm={alarm} writes={!plant!.read_only} />
        ))}
      </div>
    </>
  );
}

function Alarm({ alarm, writes }: { alarm: AlarmState; writes: boolean }) {
  const rings = lasting(alarm);
  const devices = [...alarm.devices].sort((a, b) => Number(b.raised_since !== null) - Number(a.raised_since !== null));
  const muted = alarm.devices.some((one) => one.muted_now || one.muted_until !== null);
  const acknowledged = alarm.devices.filter((one) => one.raised_since !== null).every((one) => one.acknowledged);
  return (
    <article class={rings ? "panel alarm rings" : failing(alarm) ? "panel alarm fails" : "panel alarm"}>
      <div class="row spread">
        <h2>
          {alarm.alarm} <span class={rings ? "pill alert" : failing(alarm) ? "pill warn" : "pill"}>{rings ? T.alarms.lasts : failing(alarm) ? T.alarms.fails : T.alarms.quiet}</span>
          {muted && <span class="pill">{T.alarms.muted}</span>}
        </h2>
        {writes && (
          <div class="row">
            {rings && !acknowledged && (
              <Action kind="primary" run={() => order(alarm.alarm, "acknowledge", {})}>
                {T.alarms.acknowledge}
              </Action>
            )}
            <Mute alarm={alarm.alarm} devices={alarm.devices.map((one) => one.device)} muted={muted} />
          </div>
        )}
      </div>
      <p class="text-of">{alarm.when}</p>
      {alarm.failed && <Note warn>{T.alarms.cannot_tell(alarm.failed)}</Note>}
      <ul class="alarm-devices">
        {devices.slice(0, 50).map((one) => (
          <Device key={one.device} of={one} />
        ))}
      </ul>
      {alarm.devices.length > 50 && <p class="help">{T.more(alarm.devices.length - 50)}</p>}
      <Events of={alarm.events} />
    </article>
  );
}

function Device({ of }: { of: DeviceAlarm }) {
  const since = of.raised_since ? ago(server_now() - ms_of(of.raised_since)) : null;
  return (
    <li class={of.raised_since ? "rings" : undefined}>
      <a href={address("device", of.device)}>{of.device}</a>
      <span class="state">{of.raised_since ? T.alarms.since(local(of.raised_since), since!) : of.run > 0 ? T.alarms.run(of.run, of.needed) : T.alarms.not_raised}</span>
      {of.value && <span>{of.value}</span>}
      <span class="help">
        {of.last === null ? T.alarms.no_window : T.alarms.last(local(of.last))}
        {of.run > 0 && of.raised_since ? ` ${T.alarms.run_to_clear(of.run, of.needed)}` : ""}
        {of.put_aside > 0 ? ` ${T.alarms.put_aside(of.put_aside)}` : ""}
        {of.acknowledged ? ` ${T.alarms.acknowledged}` : ""}
        {of.muted_until ? ` ${T.alarms.muted_until(local(of.muted_until))}` : of.muted_now ? ` ${T.alarms.muted_now}` : ""}
      </span>
      {of.failing && <Note warn>{T.alarms.failing(of.failing)}</Note>}
    </li>
  );
}

function Events({ of }: { of: AlarmEvent[] }) {
  const [open, set_open] = useState(false);
  if (of.length === 0) return <p class="help">{T.alarms.no_events}</p>;
  const events = [...of].reverse();
  return (
    <>
      <ol class="events">
        {events.slice(0, open ? 10 : 2).map((event) => (
          <li key={event.id}>
            <time>{local(event.at)}</time>
            <b class={event.event === "raised" || event.event === "failed" ? "alert" : undefined}>{T.alarms.events[event.event] ?? event.event}</b>
            <span>
              {event.device}: {event.what}
              {event.value !== null && event.unit !== "" && ` (${with_unit(number(event.value, event.bound), event.unit)} ${bound_text(event.value, event.bound)}; ${T.alarms.counts(event.readings)})`}
              {event.late && T.alarms.late}
              {event.muted && T.alarms.was_muted}
              {event.reason && ` – ${event.reason}`}
            </span>
          </li>
        ))}
      </ol>
      {events.length > 2 && (
        <button class="quiet small" aria-expanded={open} onClick={() => set_open(!open)}>
          {open ? T.alarms.fewer : T.more(events.length - 2)}
        </button>
      )}
    </>
  );
}
