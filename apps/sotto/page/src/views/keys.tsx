// Keys and devices: the state of secrets, the devices, and how far the last answers are assured.
import type { DevicePage, Keys } from "../api";
import { get, post } from "../client";
import { load_plant, server_now, useShared } from "../store";
import { address } from "../route";
import { T } from "../texts";
import { ago, local } from "../format";
import { Facts, Fault, Note, useLoad, Words } from "../parts/basic";
import { AddDevice, Renew } from "../parts/devices";
import { Answers } from "../parts/answers";
import { Confirm } from "../parts/confirm";
import { Rename } from "../parts/rename";

export function KeysView() {
  const { plant, now } = useShared();
  const keys = useLoad<Keys>(`keys ${now?.version ?? ""}`, (signal) => get<Keys>("/api/keys", { signal }));
  const writes = !plant!.read_only;
  const of = keys.value;
  const changed = async () => {
    await load_plant(false);
    keys.again();
  };
  return (
    <>
      <h1>{T.keys.title}</h1>
      {keys.fault && <Fault refusal={keys.fault} />}
      {of?.faults.slice(0, 50).map((fault, i) => (
        <p class="fault" key={i}>
          <Words of={fault.error} />
        </p>
      ))}
      {of?.not_pinned && <Note warn>{of.not_pinned}</Note>}
      {of && <State of={of} />}
      <section class="panel">
        <div class="row spread">
          <h2>{T.keys.devices}</h2>
          {writes && <AddDevice added={changed} />}
        </div>
        <ul class="device-list">
          {Object.entries(of?.devices ?? {})
            .slice(0, 500)
            .map(([name, page]) => (
              <Device key={name} name={name} page={page} writes={writes} changed={changed} />
            ))}
        </ul>
      </section>
      <Answers />
    </>
  );
}

function State({ of }: { of: Keys }) {
  const now = server_now();
  const left = of.certificate ? Date.parse(of.certificate.until) - now : 0;
  return (
    <section class="panel">
      <h2>{T.keys.state}</h2>
      <Facts
        of={[
          [T.keys.passphrase, of.has_passphrase ? T.keys.has_passphrase : T.keys.no_passphrase],
          [T.keys.backup, of.backup ? `${ago(of.backup.age_ms)} (${local(of.backup.at)}), ${of.backup.file}` : T.now.no_backup],
          [T.keys.owner_key, <code key="o">{of.owner_key ?? "–"}</code>],
          [T.keys.cloud_keys, of.cloud_keys.length === 0 ? T.keys.no_cloud_key : <code key="c">{of.cloud_keys.slice(0, 10).join("\n")}</code>],
          [T.keys.certificate, of.certificate ? <span key="t" class={left < 14 * 86_400_000 ? "warn" : undefined}>{T.keys.until(of.certificate.hosts.slice(0, 10).join(", "), local(of.certificate.until))}</span> : T.keys.no_certificate],
        ]}
      />
    </section>
  );
}

function Device({ name, page, writes, changed }: { name: string; page: DevicePage; writes: boolean; changed: () => Promise<void> }) {
  const latest = page.bundles.at(-1);
  const path = `/api/devices/${encodeURIComponent(name)}`;
  return (
    <li>
      <div class="grow">
        <a href={address("device", name)}>{name}</a>
        <p class="help">
          {latest ? T.keys.bundle(page.bundles.length, local(latest.made_at)) : T.device.no_bundle}{" "}
          {page.unregistered && <Words of={T.device.unregistered(name)} />}
        </p>
      </div>
      {writes && (
        <div class="row">
          <Renew name={name} renewed={changed} />
          <Rename
            name={name}
            rename={async (to) => {
              await post(`${path}/rename`, { name: to });
              await changed();
            }}
          />
          <Confirm
            button={T.keys.remove}
            title={T.keys.remove_title(name)}
            text={T.keys.remove_text}
            typed={name}
            run={async () => {
              await post(`${path}/remove`, {});
              await changed();
            }}
          />
        </div>
      )}
    </li>
  );
}
