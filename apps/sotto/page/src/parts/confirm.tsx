// A step that cannot be undone: the person types the thing's name first.
import { useState } from "preact/hooks";
import { T } from "../texts";
import { Action, Dialog } from "./basic";

interface ConfirmProps {
  button: string;
  title: string;
  text: string;
  /** The word to type. */
  typed: string;
  run: () => Promise<unknown>;
}

export function Confirm({ button, title, text, typed, run }: ConfirmProps) {
  const [open, set_open] = useState(false);
  const [word, set_word] = useState("");
  return (
    <>
      <button class="danger" onClick={() => (set_word(""), set_open(true))}>
        {button}
      </button>
      {open && (
        <Dialog title={title} close={() => set_open(false)}>
          <p>{text}</p>
          <div class="field">
            <label for="confirm-word">{T.type_to_confirm(typed)}</label>
            <input id="confirm-word" value={word} autocomplete="off" spellcheck={false} onInput={(event) => set_word(event.currentTarget.value)} />
          </div>
          <div class="row actions">
            <Action
              kind="danger"
              disabled={word !== typed}
              run={async () => {
                await run();
                set_open(false);
              }}
            >
              {button}
            </Action>
            <button onClick={() => set_open(false)}>{T.cancel}</button>
          </div>
        </Dialog>
      )}
    </>
  );
}
