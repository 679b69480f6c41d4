// The field of a question: a combobox (ARIA 1.2) with the server's completions, and the refusal under the word it is about.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Checked, Completion, Refusal } from "../api";
import { post, Refused, refusal_of, was_aborted, words_of } from "../client";
import { T } from "../texts";

const COMPLETE_MS = 120;
const CHECK_MS = 400;

interface FieldProps {
  value: string;
  change: (text: string) => void;
  checked: (checked: Checked | null) => void;
  submit: () => void;
}

export function QuestionField({ value, change, checked, submit }: FieldProps) {
  const [choices, set_choices] = useState<Completion[]>([]);
  const [active, set_active] = useState(-1);
  const [fault, set_fault] = useState<{ text: string; column: number | null } | null>(null);
  const [fits, set_fits] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const mirror = useRef<HTMLDivElement>(null);
  const typed = useRef(false);
  const chosen = useRef<string | null>(null);

  useEffect(() => {
    if (!typed.current || chosen.current === value) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await post<Completion[]>("/api/complete", { text: value }, { signal: stop.signal });
        if (!stop.signal.aborted && document.activeElement === field.current) {
          set_choices(found.filter((one) => one.text !== value).slice(0, 30));
          set_active(-1);
        }
      } catch (error) {
        if (!was_aborted(error)) set_choices([]);
      }
    }, COMPLETE_MS);
    return () => (stop.abort(), clearTimeout(timer));
  }, [value]);

  useEffect(() => {
    set_fits(false);
    checked(null);
    if (!value.trim()) return set_fault(null);
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await post<Checked | { refused: Refusal }>("/api/check", { question: value }, { signal: stop.signal });
        if (stop.signal.aborted) return;
        if ("refused" in found) throw new Refused(200, found.refused);
        set_fault(null);
        set_fits(true);
        checked(found);
      } catch (error) {
        if (stop.signal.aborted || was_aborted(error)) return;
        const { column, reason } = refusal_of(error);
        set_fault({ text: column === undefined ? words_of(error) : (reason ?? words_of(error)), column: column ?? null });
      }
    }, CHECK_MS);
    return () => (stop.abort(), clearTimeout(timer));
  }, [value]);

  const choose = (choice: Completion) => {
    chosen.current = choice.text;
    change(choice.text);
    set_choices([]);
    set_active(-1);
    field.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length > 0) {
      event.preventDefault();
      set_active((active + step + choices.length + (active < 0 && step < 0 ? 1 : 0)) % choices.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && active >= 0 && choices[active]) {
      event.preventDefault();
      choose(choices[active]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      set_choices([]);
      submit();
    } else if (event.key === "Escape" && choices.length > 0) {
      event.preventDefault();
      set_choices([]);
    }
  };
  const head = fault?.column != null ? [...value].slice(0, fault.column).join("") : "";
  const word = fault?.column != null ? (/^[\w-]+|^.?/u.exec([...value].slice(fault.column).join(""))?.[0] ?? "") : "";
  return (
    <div class="question-field">
      <label for="question">{T.ask.label}</label>
      <div class="mirror-holder">
        <input
          id="question"
          ref={field}
          class="mono"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={choices.length > 0}
          aria-controls="choices"
          aria-activedescendant={active >= 0 ? `choice-${active}` : undefined}
          aria-invalid={fault !== null}
          aria-describedby="question-fault"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={T.ask.placeholder}
          value={value}
          onInput={(event) => {
            typed.current = true;
            chosen.current = null;
            change(event.currentTarget.value);
          }}
          onKeyDown={keys}
          onScroll={(event) => mirror.current && (mirror.current.scrollLeft = event.currentTarget.scrollLeft)}
          onBlur={() => set_choices([])}
        />
        <ul id="choices" role="listbox" aria-label={T.ask.completions} hidden={choices.length === 0}>
          {choices.map((choice, i) => (
            <li
              key={choice.text}
              id={`choice-${i}`}
              role="option"
              aria-selected={i === active}
              // The field must not lose the focus before the click is there.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(choice)}
            >
              <span class="mono">{choice.text}</span>
              {choice.help && <small>{choice.help}</small>}
            </li>
          ))}
        </ul>
        {fault?.column != null && (
          <div class="mirror mono" ref={mirror} aria-hidden="true">
            <span class="ghost">{head}</span>
            <span class="caret">{word || " "}</span>
          </div>
        )}
      </div>
      {/* Below its word as far as there is room: `ch` is that of the field's font. */}
      <div class="below-word mono" style={{ paddingLeft: fault?.column ? `min(calc(${fault.column}ch + 13px), 55%)` : "0" }}>
        <p id="question-fault" class={fault ? "under" : "under fits"} role="status">
          {fault ? (fault.column === null ? fault.text : T.ask.at(fault.column + 1, fault.text)) : fits ? T.ask.fits : ""}
        </p>
      </div>
    </div>
  );
}
