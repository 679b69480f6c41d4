import { useState } from "preact/hooks";
import { T } from "../texts";
import { Action, Dialog } from "./basic";

export function Rename({ name, rename }: { name: string; rename: (to: string) => Promise<void> }) {
  const [open, set_open] = useState(false);
  const [to, set_to] = useState(name);
  return (
    <>
      <button onClick={() => (set_to(name), set_open(true))}>{T.keys.rename}</button>
      {open && (
        <Dialog title={T.keys.rename_title(name)} close={() => set_open(false)}>
          <div class="field">
            <label for="rename-to">{T.keys.new_name}</label>
            <input id="rename-to" value={to} autocomplete="off" spellcheck={false} onInput={(event) => set_to(event.currentTarget.value)} />
          </div>
          <div class="row actions">
            <Action
              kind="primary"
              disabled={!to.trim() || to === name}
              run={async () => {
                await rename(to.trim());
                set_open(false);
              }}
            >
              {T.keys.rename}
            </Action>
            <button onClick={() => set_open(false)}>{T.cancel}</button>
          </div>
        </Dialog>
      )}
    </>
  );
}
