// The order of a dashboard: by dragging, by buttons, by the arrow keys. Every change is written at once.
import { useEffect, useRef, useState } from "preact/hooks";
import type { PlantInfo } from "../api";
import { put } from "../client";
import { load_plant } from "../store";
import { T } from "../texts";
import { Action, Fault, Icon } from "./basic";
import { refusal_of } from "../client";
import type { Refusal } from "../api";

interface ArrangeProps {
  name: string;
  list: string[];
  plant: PlantInfo;
  chosen: (name: string) => void;
}

export function Arrange({ name, list, plant, chosen }: ArrangeProps) {
  const [order, set_order] = useState(list);
  const [told, tell] = useState("");
  const [fault, set_fault] = useState<Refusal | null>(null);
  const [fresh, set_fresh] = useState("");
  const dragged = useRef<string | null>(null);
  const holder = useRef<HTMLOListElement>(null);

  // One write after the other, so that the last order is the one that stays.
  const writing = useRef<Promise<void>>(Promise.resolve());
  const waiting = useRef(0);
  useEffect(() => {
    if (waiting.current === 0) set_order(list);
  }, [list.join("\n")]);
  const write = (next: string[]): Promise<void> => {
    set_order(next);
    set_fault(null);
    waiting.current += 1;
    const turn = writing.current.then(async () => {
      try {
        await put(`/api/dashboards/${encodeURIComponent(name)}`, next);
        if (waiting.current === 1) await load_plant(false);
      } catch (error) {
        set_fault(refusal_of(error));
        set_order(list);
      } finally {
        waiting.current -= 1;
      }
    });
    return (writing.current = turn);
  };
  const move = (one: string, to: number) => {
    if (to < 0 || to >= order.length) return;
    const next = order.filter((other) => other !== one);
    next.splice(to, 0, one);
    tell(T.arrange.moved(one, to + 1, next.length));
    void write(next);
    // The handle keeps the focus while its row moves.
    requestAnimationFrame(() => holder.current?.querySelectorAll<HTMLElement>(".handle")[to]?.focus());
  };
  const others = Object.keys(plant.questions).filter((one) => !order.includes(one));
  return (
    <section class="panel arrange" aria-label={T.arrange.title(name)}>
      <h2>{T.arrange.title(name)}</h2>
      <p class="help" id="arrange-help">
        {T.arrange.help}
      </p>
      <ol ref={holder}>
        {order.map((one, i) => (
          <li
            key={one}
            draggable
            onDragStart={(event) => {
              dragged.current = one;
              event.dataTransfer?.setData("text/plain", "");
            }}
            onDragOver={(event) => dragged.current && event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged.current && dragged.current !== one) move(dragged.current, i);
              dragged.current = null;
            }}
          >
            <button
              class="quiet handle icon-button"
              aria-label={T.arrange.handle(one, i + 1, order.length)}
              aria-describedby="arrange-help"
              onKeyDown={(event) => {
                const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
                if (step) {
                  event.preventDefault();
                  move(one, i + step);
                }
              }}
            >
              <Icon name="grip" />
            </button>
            <span class="grow">{one}</span>
            <button class="quiet icon-button" aria-label={T.arrange.up(one)} disabled={i === 0} onClick={() => move(one, i - 1)}>
              <Icon name="up" />
            </button>
            <button class="quiet icon-button" aria-label={T.arrange.down(one)} disabled={i === order.length - 1} onClick={() => move(one, i + 1)}>
              <Icon name="down" />
            </button>
            <button class="quiet icon-button" aria-label={T.arrange.drop(one)} disabled={order.length === 1} onClick={() => void write(order.filter((other) => other !== one))}>
              <Icon name="cross" />
            </button>
          </li>
        ))}
      </ol>
      <div class="row">
        {others.length > 0 && (
          <select aria-label={T.arrange.add} value="" onChange={(event) => event.currentTarget.value && void write([...order, event.currentTarget.value])}>
            <option value="">{T.arrange.add}</option>
            {others.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
        <input aria-label={T.arrange.new_name} placeholder={T.arrange.new_name} value={fresh} onInput={(event) => set_fresh(event.currentTarget.value)} />
        <Action
          disabled={!/^[\w-]{1,64}$/.test(fresh) || fresh in plant.dashboards}
          run={async () => {
            await put(`/api/dashboards/${encodeURIComponent(fresh)}`, order.slice(0, 1));
            await load_plant(false);
            chosen(fresh);
          }}
        >
          {T.arrange.make}
        </Action>
        {name !== "main" && (
          <Action
            kind="danger"
            run={async () => {
              await put(`/api/dashboards/${encodeURIComponent(name)}`, []);
              await load_plant(false);
              chosen("main");
            }}
          >
            {T.arrange.remove(name)}
          </Action>
        )}
      </div>
      {fault && <Fault refusal={fault} />}
      <p class="visually-hidden" role="status">
        {told}
      </p>
    </section>
  );
}
