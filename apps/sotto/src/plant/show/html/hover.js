"use strict";
// Shows the values at the time nearest to the pointer; arrow keys move it, too.
for (const chart of document.querySelectorAll("svg[data-read]")) {
  // Each line: {name, style, at: [x from 0 to 1], y: [pixels or null], text: [[from, to, value]]}.
  const lines = JSON.parse(chart.dataset.read);
  const times = [...new Set(lines.flatMap((line) => line.at))].sort((a, b) => a - b);
  const cursor = chart.querySelector(".cursor");
  const readOut = chart.parentElement.querySelector(".read-out");
  const html = (name, properties, ...content) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...content);
    return element;
  };
  const make = (name, attributes) => {
    const element = document.createElementNS(chart.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  let at = null;
  const hide = () => { cursor.replaceChildren(); readOut.hidden = true; at = null; };
  const show = (index) => {
    at = Math.max(0, Math.min(times.length - 1, index));
    const x = times[at];
    const percent = `${x * 100}%`;
    cursor.replaceChildren(make("line", { x1: percent, x2: percent, y1: 0, y2: chart.dataset.height }));
    readOut.replaceChildren();
    let when = null;
    for (const line of lines) {
      const found = line.at.indexOf(x);
      if (found < 0) continue;
      const [from, to, value] = line.text[found];
      if (from + to !== when) {
        readOut.append(html("div", { className: "quiet" }, html("span", {}, `${from} –`), " ", html("span", {}, to)));
      }
      when = from + to;
      const text = line.name ? `${line.name}: ${value}` : value;
      readOut.append(html("div", {}, html("i", { className: line.style }), text));
      if (line.y[found] !== null) cursor.append(make("circle", { class: line.style, cx: percent, cy: line.y[found], r: 5 }));
    }
    readOut.hidden = false;
    const box = chart.getBoundingClientRect();
    const figure = chart.parentElement.getBoundingClientRect();
    const left = box.left - figure.left + x * box.width;
    const beside = x < 0.5 ? left + 14 : left - 14 - readOut.offsetWidth;
    readOut.style.left = `${Math.max(0, Math.min(figure.width - readOut.offsetWidth, beside))}px`;
    // On a narrow page the box would hide the lines, so it goes below them.
    const narrow = box.width < 2 * readOut.offsetWidth;
    readOut.style.top = `${box.top - figure.top + (narrow ? box.height + 4 : 0)}px`;
  };
  const nearest = (x) => {
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= x) low = middle; else high = middle;
    }
    return x - times[low] <= times[high] - x ? low : high;
  };
  const follow = (event) => {
    const box = chart.getBoundingClientRect();
    show(nearest((event.clientX - box.left) / box.width));
  };
  chart.addEventListener("pointermove", follow);
  chart.addEventListener("pointerdown", follow);
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") hide();
    if (steps === undefined) return;
    event.preventDefault();
    show(at === null ? (steps < 0 ? times.length - 1 : 0) : at + steps);
  });
}
