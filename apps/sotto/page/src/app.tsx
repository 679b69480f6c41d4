// The frame: navigation, banners, and the view that the address names.
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { change, lock_now, server_now, useShared, useTick, type Shared } from "./store";
import { address, useRoute, VIEWS, type Route, type View } from "./route";
import { T } from "./texts";
import { ago } from "./format";
import { Boundary, Icon, Words } from "./parts/basic";
import { Licences } from "./parts/licences";
import { Lock } from "./views/lock";
import { NowView } from "./views/now";
import { DeviceView } from "./views/device";
import { QuestionsView } from "./views/questions";
import { QuestionView } from "./views/question";
import { AskView } from "./views/ask";
import { AlarmsView } from "./views/alarms";
import { CloudView } from "./views/cloud";
import { PlanView } from "./views/plan";
import { KeysView } from "./views/keys";

function view_of(route: Route): ComponentChild {
  switch (route.view) {
    case "now":
      return <NowView />;
    case "device":
      return <DeviceView key={route.name} name={route.name!} />;
    case "questions":
      return <QuestionsView />;
    case "question":
      return <QuestionView key={route.name} name={route.name!} />;
    case "ask":
      return <AskView />;
    case "alarms":
      return <AlarmsView />;
    case "cloud":
      return <CloudView />;
    case "plan":
      return <PlanView />;
    case "keys":
      return <KeysView />;
  }
}

const parent: Partial<Record<View, keyof typeof T.views>> = { device: "now", question: "questions" };

export function App() {
  const state = useShared();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (state.theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = state.theme;
  }, [state.theme]);
  useEffect(() => {
    // A screen reader starts at the new view; the first one starts at the top of the page.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
    scrollTo(0, 0);
  }, [route.view, route.name]);

  const open = state.session === "open";
  useEffect(() => {
    // Names of views alone: titles end up in lists of windows and histories.
    document.title = open ? T.title(T.views[parent[route.view] ?? (route.view as keyof typeof T.views)]) : "sotto";
  }, [open, route.view]);

  if (state.session === "none" || !state.plant) return <Lock reason={state.lock} />;
  const current = parent[route.view] ?? route.view;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {T.frame.skip}
      </a>
      <header class="rail">
        <div class="brand">
          <Icon name="wave" />
          <span class="plant" title={state.plant.folder}>
            {state.plant.name}
          </span>
          {state.plant.read_only && <span class="badge">{T.frame.read_only}</span>}
        </div>
        <nav aria-label={T.frame.views}>
          {VIEWS.map((view) => (
            <a key={view} href={address(view)} aria-current={view === current ? "page" : undefined}>
              <Icon name={view} />
              <span>{T.views[view]}</span>
              {view === "alarms" && <Lasting state={state} />}
            </a>
          ))}
        </nav>
        <Foot state={state} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Banners state={state} />
        <Boundary key={`${route.view}/${route.name}`}>{view_of(route)}</Boundary>
      </main>
    </div>
  );
}

function Lasting({ state }: { state: Shared }) {
  const lasting = state.now?.alarms.filter((alarm) => alarm.devices.some((device) => device.raised_since !== null)).length ?? 0;
  return lasting > 0 ? <span class="count alert" title={T.alarms.lasting_count(lasting)} aria-label={T.alarms.lasting_count(lasting)} role="img">{lasting}</span> : null;
}

function Foot({ state }: { state: Shared }) {
  const live = state.console_answers && state.now !== null;
  const next = { auto: "dark", dark: "light", light: "auto" } as const;
  return (
    <div class="foot">
      <span class={`live ${live ? "on" : "off"}`}>
        <i aria-hidden="true" />
        <span class="label">{live ? T.frame.live : T.frame.waiting}</span>
      </span>
      <button class="quiet" title={T.frame.theme_title} onClick={() => change({ theme: next[state.theme] })}>
        <Icon name="theme" />
        <span class="label">{T.frame.theme[state.theme]}</span>
      </button>
      <button class="quiet" onClick={() => lock_now("locked")}>
        <Icon name="lock" />
        <span class="label">{T.frame.lock}</span>
      </button>
      <Licences version={state.plant?.program_version ?? ""} />
    </div>
  );
}

/** A state older than this says its age: a cloud that stalls is neither away nor seen. */
const OLD_MS = 60_000;

function Banners({ state }: { state: Shared }) {
  const away = !state.console_answers || (state.now !== null && (!state.now.cloud.reachable || server_now() - state.now.at_ms > OLD_MS));
  return (
    <div class="banners" aria-live="polite">
      {!state.console_answers && <p class="banner alert"><Words of={T.link.console_away} /></p>}
      {state.console_answers && state.now && !state.now.cloud.reachable && (
        <p class="banner warn">
          {T.link.cloud_away(state.now.cloud.url)}
          {state.now.cloud.error && <span class="server">{`\n${state.now.cloud.error}`}</span>}
        </p>
      )}
      {away && state.now && <Age />}
      {state.now?.notes.slice(0, 5).map((note) => (
        <p class="banner" key={note}>
          <Words of={note} />
        </p>
      ))}
    </div>
  );
}

/** Outside of the live region's words it would be read aloud every second. */
function Age() {
  const state = useShared();
  useTick(1000);
  return (
    <p class="banner-age" aria-live="off">
      {T.link.as_of(ago(server_now() - (state.now?.at_ms ?? server_now())))}
    </p>
  );
}
