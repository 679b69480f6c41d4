// Every device on one screen, live.
import type { AlarmState, DeviceStatus } from "../api";
import { server_now, useShared, useTick } from "../store";
import { address } from "../route";
import { T } from "../texts";
import { Words } from "../parts/basic";
import { ago, bytes, number, whole } from "../format";

export function NowView() {
  const { now } = useShared();
  useTick(1000);
  if (!now) return <p class="loading">{T.loading}</p>;
  const devices = [...now.devices].sort((a, b) => Number(troubled(b, now.alarms)) - Number(troubled(a, now.alarms)) || a.device.localeCompare(b.device));
  const total = now.devices.reduce((sum, device) => sum + device.bytes, 0);
  return (
    <>
      <h1>{T.views.now}</h1>
      <p class="lead">
        {T.now.summary(now.devices.length, now.devices.filter((device) => device.late).length, bytes(total))}{" "}
        <Words of={now.backup ? T.now.backup(ago(now.backup.age_ms + (server_now() - now.at_ms))) : T.now.no_backup} />
      </p>
      {devices.length === 0 && <p>{T.now.none}</p>}
      <ul class="cards">
        {devices.slice(0, 500).map((device) => (
          <li key={device.device}>
            <Card device={device} alarms={now.alarms} />
          </li>
        ))}
      </ul>
    </>
  );
}

const troubled = (device: DeviceStatus, alarms: AlarmState[]) =>
  device.late || device.revoked || device.troubles.length > 0 || alarms.some((alarm) => alarm.devices.some((one) => one.device === device.device && one.raised_since !== null));

export const sum_of = (device: DeviceStatus, field: "readings" | "missing"): number =>
  device.channels.reduce((sum, channel) => sum + channel[field], 0);

export function left_out_words(device: DeviceStatus): string {
  const reasons: Record<string, number> = {};
  for (const channel of device.channels) {
    for (const [reason, count] of Object.entries(channel.left_out)) reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  return Object.entries(reasons)
    .map(([reason, count]) => T.left_out(whole(count), reason))
    .join(", ");
}

/** Things to look at, the gravest first. */
export function signs_of(device: DeviceStatus): { text: string; grave: boolean }[] {
  const signs: { text: string; grave: boolean }[] = [];
  const add = (when: boolean, text: string, grave: boolean) => when && signs.push({ text, grave });
  add(device.revoked, T.now.revoked, true);
  add(!device.enrolled, T.now.not_enrolled, true);
  add(device.repeated_masks > 0, T.now.repeated(device.repeated_masks), true);
  add(device.taken_numbers > 0, T.now.taken(device.taken_numbers), true);
  add(device.without_secret > 0, T.now.without_secret(whole(device.without_secret)), true);
  add(device.unusable > 0, T.now.unusable(whole(device.unusable)), true);
  add(device.late, T.now.late, false);
  add(!device.listed, T.now.unlisted, false);
  add(device.recoveries > 0, T.now.recoveries(device.recoveries), false);
  add(device.earlier > 0, T.now.earlier(whole(device.earlier)), false);
  add(device.generated > 0, T.now.generated(whole(device.generated)), false);
  return signs;
}

function Card({ device, alarms }: { device: DeviceStatus; alarms: AlarmState[] }) {
  const now = server_now();
  const readings = sum_of(device, "readings");
  const missing = sum_of(device, "missing");
  const left_out = left_out_words(device);
  const ringing = alarms.filter((alarm) => alarm.devices.some((one) => one.device === device.device && one.raised_since !== null));
  const signs = signs_of(device);
  const grave = ringing.length > 0 || device.troubles.length > 0 || signs.some((sign) => sign.grave);
  return (
    <a class={`card device ${grave ? "alert" : signs.length > 0 ? "warn" : "fine"}`} href={address("device", device.device)}>
      <h2>{device.device}</h2>
      <p class="big">
        {device.newest_ms === null ? T.now.no_window : ago(now - device.newest_ms)}
        <small>{device.newest_ms === null ? "" : T.now.last_window}</small>
      </p>
      <dl class="facts tight">
        <Fact name={T.now.heard} value={device.heard_ms === null ? "–" : ago(now - device.heard_ms)} />
        <Fact name={T.now.readings} value={whole(readings)} />
        <Fact name={T.now.windows} value={whole(device.received)} />
        <Fact name={T.now.bytes_a_reading} value={readings > 0 ? number(Math.round((device.bytes / readings) * 100) / 100) : "–"} />
        <Fact name={T.now.missing} value={whole(missing)} strong={missing > 0} />
        {left_out && <Fact name={T.now.left_out} value={left_out} />}
      </dl>
      <ul class="channels-line">
        {device.channels.slice(0, 8).map((channel) => (
          <li key={channel.channel}>{channel.channel}</li>
        ))}
        {device.channels.length > 8 && <li>{T.more(device.channels.length - 8)}</li>}
      </ul>
      {(signs.length > 0 || ringing.length > 0 || device.troubles.length > 0) && (
        <ul class="signs">
          {ringing.map((alarm) => (
            <li key={alarm.alarm} class="alert">
              {T.now.alarm(alarm.alarm, alarm.when)}
            </li>
          ))}
          {device.troubles.slice(0, 3).map((trouble) => (
            <li key={trouble.error} class="alert">
              <Words of={trouble.error.split("\n", 1)[0]!} />
            </li>
          ))}
          {signs.map((sign) => (
            <li key={sign.text} class={sign.grave ? "alert" : "warn"}>
              {sign.text}
            </li>
          ))}
        </ul>
      )}
    </a>
  );
}

function Fact({ name, value, strong }: { name: string; value: string; strong?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={strong ? "strong" : undefined}>{value}</dd>
    </div>
  );
}
