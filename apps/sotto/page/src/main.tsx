import "uplot/dist/uPlot.min.css";
import "./page.css";
import { render } from "preact";
import { App } from "./app";
import { watch_idle } from "./store";

watch_idle();
render(<App />, document.getElementById("page")!);
