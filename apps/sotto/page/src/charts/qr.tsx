/** A QR code from its rows of 0 and 1, dark on light in every theme: readers need it so. */
export function Qr({ rows, label }: { rows: string[]; label: string }) {
  const size = Math.min(rows.length, 200);
  let path = "";
  rows.slice(0, size).forEach((row, y) => {
    for (const run of row.slice(0, size).matchAll(/1+/g)) path += `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`;
  });
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`-4 -4 ${size + 8} ${size + 8}`} shape-rendering="crispEdges">
      <rect x="-4" y="-4" width={size + 8} height={size + 8} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
