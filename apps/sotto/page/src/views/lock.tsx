// Without a session: one field, for a code or the passphrase.
import { useEffect, useRef, useState } from "preact/hooks";
import { refusal_of, Refused } from "../client";
import { change, start_session, type Shared } from "../store";
import { take_code } from "../code";
import { T } from "../texts";
import { Fault, Icon, Words } from "../parts/basic";
import type { NewSession, Refusal } from "../api";

/** Codes look like ABCD-EFGH-JKLM, without letters that look like digits; everything else is a passphrase. */
const CODE = /^[A-HJ-NP-Z2-9]{12}$/;
const plain = (text: string) => text.replace(/[\s-]/g, "").toUpperCase();

export function Lock({ reason }: { reason: Shared["lock"] }) {
  const [text, set_text] = useState("");
  const [busy, set_busy] = useState(false);
  const [fault, set_fault] = useState<Refusal | null>(null);
  const field = useRef<HTMLInputElement>(null);

  const open = async (body: NewSession, otherwise?: NewSession): Promise<void> => {
    set_busy(true);
    set_fault(null);
    try {
      await start_session(body);
      return;
    } catch (error) {
      if (otherwise && error instanceof Refused && error.status === 403) {
        // The refusal of the code tells more, unless this is the passphrase.
        try {
          return await start_session(otherwise);
        } catch {}
      }
      // The question for the passphrase says it all.
      if (error instanceof Refused && error.status === 423 && reason !== "passphrase") change({ lock: "passphrase" });
      else set_fault(refusal_of(error));
    }
    set_busy(false);
    set_text("");
    field.current?.focus();
  };
  useEffect(() => {
    const use = () => {
      const code = take_code();
      if (code) void open({ code });
    };
    field.current?.focus();
    use();
    // A locked page may get a code later: a second `sotto console` of the same browser.
    addEventListener("hashchange", use);
    return () => removeEventListener("hashchange", use);
  }, []);

  const submit = (event: Event) => {
    event.preventDefault();
    const typed = text.trim();
    if (!typed) return;
    if (!CODE.test(plain(typed))) return void open({ passphrase: text });
    // A passphrase may look like a code.
    void open({ code: plain(typed) }, { passphrase: text });
  };
  return (
    <main class="lock">
      <form onSubmit={submit}>
        <div class="brand">
          <Icon name="wave" />
          <h1>sotto</h1>
        </div>
        <p>{T.lock.why[reason]}</p>
        <label for="code">{reason === "passphrase" ? T.lock.passphrase : T.lock.code}</label>
        <div class="row">
          <input
            id="code"
            ref={field}
            type="password"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={text}
            disabled={busy}
            aria-describedby="code-help"
            onInput={(event) => set_text(event.currentTarget.value)}
          />
          <button class="primary" disabled={busy || !text.trim()}>
            {busy ? T.lock.opening : T.lock.open}
          </button>
        </div>
        <p class="help" id="code-help">
          <Words of={reason === "passphrase" ? T.lock.passphrase_help : T.lock.help} />
        </p>
        {fault && <Fault refusal={fault} />}
      </form>
    </main>
  );
}
