// One device: its channels, streams, keys, faults with their way out, and its last windows.
import type { DevicePage, DeviceStatus } from "../api";
import { get } from "../client";
import { server_now, useShared, useTick } from "../store";
import { address } from "../route";
import { T } from "../texts";
import { ago, bytes, duration, local, whole } from "../format";
import { Facts, Fault, Note, Table, useLoad, Words } from "../parts/basic";
import { Windows } from "../parts/windows";
import { signs_of } from "./now";

export function DeviceView({ name }: { name: string }) {
  const { now } = useShared();
  useTick(1000);
  const page = useLoad(`device ${name} ${now?.version ?? ""}`, (signal) => get<DevicePage>(`/api/devices/${encodeURIComponent(name)}`, { signal }));
  const status = now?.devices.find((one) => one.device === name) ?? null;
  const alarms = now?.alarms.filter((alarm) => alarm.devices.some((one) => one.device === name && one.raised_since !== null)) ?? [];
  return (
    <>
      <p class="crumb">
        <a href={address("now")}>{T.views.now}</a>
      </p>
      <h1>{name}</h1>
      <p>
        {page.value?.tags.slice(0, 40).map((tag) => (
          <span class="pill" key={tag}>
            {tag}
          </span>
        ))}
        {page.value?.public && <span class="pill">{T.device.public}</span>}
      </p>
      {page.fault && <Fault refusal={page.fault} />}
      {alarms.map((alarm) => (
        <p class="fault" key={alarm.alarm}>
          {T.now.alarm(alarm.alarm, alarm.when)}
        </p>
      ))}
      {status?.troubles.slice(0, 20).map((trouble, i) => (
        <p class="fault" key={i}>
          <Words of={trouble.error} />
        </p>
      ))}
      {status && signs_of(status).map((sign) => <Note key={sign.text} warn>{sign.text}</Note>)}
      {page.value?.unregistered && <Note warn>{T.device.unregistered(name)}</Note>}
      {page.value?.came_back && <Note warn>{T.device.came_back}</Note>}
      <div class="two">
        {status && <Summary of={status} />}
        {page.value && <Keys page={page.value} />}
      </div>
      {status && <Channels of={status} />}
      {page.value && <Streams page={page.value} />}
      <section class="panel">
        <h2>{T.device.windows}</h2>
        <Windows device={name} />
      </section>
    </>
  );
}

function Summary({ of }: { of: DeviceStatus }) {
  const now = server_now();
  return (
    <section class="panel">
      <h2>{T.device.state}</h2>
      <Facts
        of={[
          [T.device.newest, of.newest_ms === null ? "–" : ago(now - of.newest_ms)],
          [T.now.heard, of.heard_ms === null ? "–" : `${local(of.heard_at)} (${ago(now - of.heard_ms)})`],
          [T.device.longest, of.window_ms === null ? "–" : duration(of.window_ms)],
          [T.device.counted, whole(of.windows)],
          [T.device.received, whole(of.received)],
          [T.device.bytes, bytes(of.bytes)],
          ...(of.late_stream ? [[T.device.late_stream, T.device.late(of.late_stream.stream, ago(now - of.late_stream.newest_ms), duration(of.late_stream.window_ms))] as [string, string]] : []),
        ]}
      />
    </section>
  );
}

function Keys({ page }: { page: DevicePage }) {
  return (
    <section class="panel">
      <h2>{T.device.keys}</h2>
      <Facts
        of={[
          [T.device.verifying, <code key="v">{page.verifying_key ?? "–"}</code>],
          [T.device.bundles, page.bundles.length === 0 ? T.device.no_bundle : page.bundles.slice(-6).map((bundle) => local(bundle.made_at)).join(", ")],
        ]}
      />
    </section>
  );
}

function Channels({ of }: { of: DeviceStatus }) {
  const { plant } = useShared();
  return (
    <section class="panel">
      <h2>{T.device.channels}</h2>
      <Table label={T.device.channels}>
        <thead>
          <tr>
            <th scope="col">{T.device.channel}</th>
            <th scope="col">{T.device.unit}</th>
            <th scope="col">{T.device.every}</th>
            <th scope="col" class="n">{T.rows.count}</th>
            <th scope="col" class="n">{T.rows.missing}</th>
            <th scope="col">{T.now.left_out}</th>
            <th scope="col">{T.device.oldest}</th>
            <th scope="col">{T.device.latest}</th>
          </tr>
        </thead>
        <tbody>
          {of.channels.slice(0, 200).map((channel) => {
            const info = plant?.channels[channel.channel];
            return (
              <tr key={channel.channel}>
                <th scope="row">{channel.channel}</th>
                <td>{info?.states.length ? info.states.join(", ") : (info?.unit ?? "")}</td>
                <td>{info?.every ?? ""}</td>
                <td class="n">{whole(channel.readings)}</td>
                <td class={channel.missing > 0 ? "n warn" : "n"}>{whole(channel.missing)}</td>
                <td>
                  {Object.entries(channel.left_out)
                    .map(([reason, count]) => T.left_out(whole(count), reason))
                    .join(", ") || "–"}
                </td>
                <td class="nowrap">{local(channel.oldest)}</td>
                <td class="nowrap">{local(channel.newest)}</td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </section>
  );
}

function Streams({ page }: { page: DevicePage }) {
  const latest = page.bundles.at(-1);
  if (!latest) return null;
  return (
    <section class="panel">
      <h2>{T.device.streams}</h2>
      <Table label={T.device.streams}>
        <thead>
          <tr>
            <th scope="col">{T.device.stream}</th>
            <th scope="col">{T.device.scheme}</th>
            <th scope="col">{T.device.channels}</th>
            <th scope="col">{T.device.period}</th>
            <th scope="col">{T.device.window}</th>
          </tr>
        </thead>
        <tbody>
          {latest.streams.slice(0, 100).map((stream) => (
            <tr key={stream.name}>
              <th scope="row">{stream.name}</th>
              <td>{stream.scheme}</td>
              <td>{stream.channels.join(", ")}</td>
              <td>{duration(stream.period_ms)}</td>
              <td>{stream.window_ms === null ? "–" : duration(stream.window_ms)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  );
}
