// Colours of series. They differ in lightness too, and each has a dash of its own, for readers who see fewer colours.
export const SERIES = 8;
export const DASHES: number[][] = [[], [7, 3], [3, 2], [10, 3, 2, 3], [4, 2], [12, 4], [1, 2], [6, 2, 1, 2, 1, 2]];
/** A time that lies under another one has its colour, and this dash. */
export const EARLIER = [2, 2];

export const colour = (index: number): string => `var(--s${(index % SERIES) + 1})`;
export const dash = (index: number): number[] => DASHES[Math.floor(index) % DASHES.length]!;

/** The present value of a custom property, for canvases: they do not know `var()`. */
export const resolved = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const resolved_colour = (index: number): string => resolved(`--s${(index % SERIES) + 1}`);
