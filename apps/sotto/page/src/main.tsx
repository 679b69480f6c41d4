import "uplot/dist/uPlot.min.css";
import "./page.css";
import { render } from "preact";
import { App } from "./app";
import { watch_code } from "./code";
import { watch_idle } from "./store";

watch_idle();
watch_code();
render(<App />, document.getElementById("page")!);
