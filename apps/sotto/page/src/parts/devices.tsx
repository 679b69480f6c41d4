// Adds a device and renews its bundle. The bundle holds a secret: its QR code is asked for by a press, and kept nowhere.
import { useState } from "preact/hooks";
import type { Bundle, NewDevice, QrCode } from "../api";
import { post } from "../client";
import { useShared } from "../store";
import { T } from "../texts";
import { Qr } from "../charts/qr";
import { Action, Dialog, Note } from "./basic";

export function AddDevice({ added }: { added: () => Promise<void> }) {
  const [open, set_open] = useState(false);
  return (
    <>
      <button class="primary" onClick={() => set_open(true)}>
        {T.keys.add}
      </button>
      {open && (
        <Dialog title={T.keys.add} close={() => set_open(false)}>
          <Form added={added} close={() => set_open(false)} />
        </Dialog>
      )}
    </>
  );
}

function Form({ added, close }: { added: () => Promise<void>; close: () => void }) {
  const { plant } = useShared();
  const [name, set_name] = useState("");
  const [channels, set_channels] = useState<string[]>([]);
  const [tried, set_tried] = useState<Bundle | null>(null);
  const [made, set_made] = useState<Bundle | null>(null);
  const order = (dry_run: boolean): NewDevice => ({ name: name.trim(), channels, dry_run });
  if (made) return <Made bundle={made} close={close} />;
  return (
    <>
      <div class="field">
        <label for="device-name">{T.keys.name}</label>
        <input id="device-name" value={name} autocomplete="off" spellcheck={false} onInput={(event) => (set_name(event.currentTarget.value), set_tried(null))} />
      </div>
      <fieldset>
        <legend>{T.device.channels}</legend>
        {Object.entries(plant!.channels)
          .slice(0, 300)
          .map(([channel, info]) => (
            <label class="check" key={channel}>
              <input
                type="checkbox"
                checked={channels.includes(channel)}
                onChange={(event) => {
                  set_tried(null);
                  set_channels(event.currentTarget.checked ? [...channels, channel] : channels.filter((one) => one !== channel));
                }}
              />
              <span>
                {channel} <small>{T.keys.channel(info.kind, info.unit, info.every)}</small>
              </span>
            </label>
          ))}
      </fieldset>
      {tried && <Lines of={tried.lines} />}
      <div class="row actions">
        {tried ? (
          <Action
            kind="primary"
            run={async () => {
              const bundle = await post<Bundle>("/api/devices", order(false));
              set_made(bundle);
              await added();
            }}
          >
            {T.keys.make}
          </Action>
        ) : (
          <Action kind="primary" disabled={!name.trim() || channels.length === 0} run={async () => set_tried(await post<Bundle>("/api/devices", order(true)))}>
            {T.keys.try}
          </Action>
        )}
        <button onClick={close}>{T.cancel}</button>
      </div>
    </>
  );
}

export function Renew({ name, renewed }: { name: string; renewed: () => Promise<void> }) {
  const [open, set_open] = useState(false);
  const [made, set_made] = useState<Bundle | null>(null);
  const close = () => (set_open(false), set_made(null));
  return (
    <>
      <button onClick={() => set_open(true)}>{T.keys.renew}</button>
      {open && (
        <Dialog title={T.keys.renew_title(name)} close={close}>
          {made ? (
            <Made bundle={made} close={close} />
          ) : (
            <>
              <p>{T.keys.renew_text}</p>
              <div class="row actions">
                <Action
                  kind="primary"
                  run={async () => {
                    const bundle = await post<Bundle>(`/api/devices/${encodeURIComponent(name)}/renew`, {});
                    set_made(bundle);
                    await renewed();
                  }}
                >
                  {T.keys.renew}
                </Action>
                <button onClick={close}>{T.cancel}</button>
              </div>
            </>
          )}
        </Dialog>
      )}
    </>
  );
}

function Made({ bundle, close }: { bundle: Bundle; close: () => void }) {
  const [code, set_code] = useState<QrCode | null>(null);
  return (
    <>
      <Lines of={bundle.lines} />
      {bundle.file && (
        <>
          <p>{T.keys.file}</p>
          <p>
            <code>{bundle.file}</code>
          </p>
        </>
      )}
      <Note warn>{T.keys.secret}</Note>
      {code ? (
        <>
          <Qr rows={code.rows} label={T.keys.qr(bundle.device)} />
          <p class="help">{T.keys.reading}</p>
          <p>
            <code>{code.reading}</code>
          </p>
        </>
      ) : (
        bundle.file && <Action run={async () => set_code(await post<QrCode>(`/api/devices/${encodeURIComponent(bundle.device)}/qr`, {}))}>{T.keys.show_qr}</Action>
      )}
      <div class="row actions">
        <button class="primary" onClick={close}>
          {T.close}
        </button>
      </div>
    </>
  );
}

function Lines({ of }: { of: string[] }) {
  return (
    <ul class="lines">
      {of.slice(0, 100).map((line, i) => (
        <li key={i}>{line}</li>
      ))}
    </ul>
  );
}
