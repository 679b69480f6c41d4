// Writes dist/. The same sources and package-lock.json give the same bytes: `cargo ci console` compares them.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";

// Packages whose code is in page.js or page.css.
const inside = ["preact", "uplot"];

await rm("dist", { recursive: true, force: true });
await mkdir("dist");
await build({
  entryPoints: { page: "src/main.tsx" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  define: { "process.env.NODE_ENV": '"production"' },
});
await copyFile("src/index.html", "dist/index.html");
await copyFile("src/favicon.svg", "dist/favicon.svg");
const texts = await Promise.all(
  inside.map(async (name) => {
    const { version, license } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const text = await readFile(`node_modules/${name}/LICENSE`, "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }),
);
await writeFile("dist/licences.txt", texts.join(`\n${"-".repeat(80)}\n\n`));
