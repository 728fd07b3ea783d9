/**
 * The icon, drawn by code: an array over a mesh of 2 × 4 devices, one shard of which does not fit.
 */
import { crc32, deflateSync } from "node:zlib";

const SIZE = 256;
const SAMPLES = 4;

const SHARDS = [
  ["#7cc4ff", "#4fa3f7", "#7cc4ff", "#4fa3f7"],
  ["#4fa3f7", "#7cc4ff", "#4fa3f7", "#ff6b5e"],
];
const GROUND = "#10243d";

/** The colour at a point of the unit square, as [red, green, blue, opacity]; outside the card it is transparent. */
function colourAt(x, y) {
  if (!inRounded(x, y, 0, 0, 1, 1, 0.2)) {
    return [0, 0, 0, 0];
  }
  const [left, top, width, height, gap] = [0.14, 0.26, 0.18, 0.24, 0.0];
  for (const [row, colours] of SHARDS.entries()) {
    for (const [column, colour] of colours.entries()) {
      const shifted = colour === "#ff6b5e" ? 0.045 : 0;
      const x0 = left + column * (width + gap) + shifted;
      const y0 = top + row * (height + gap) + shifted;
      if (inRounded(x, y, x0 + 0.012, y0 + 0.012, x0 + width - 0.012, y0 + height - 0.012, 0.035)) {
        return [...rgb(colour), 255];
      }
    }
  }
  return [...rgb(GROUND), 255];
}

function inRounded(x, y, x0, y0, x1, y1, radius) {
  const dx = Math.max(x0 + radius - x, x - (x1 - radius), 0);
  const dy = Math.max(y0 + radius - y, y - (y1 - radius), 0);
  return dx * dx + dy * dy <= radius * radius;
}

function rgb(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

function pixel(column, row) {
  const sum = [0, 0, 0, 0];
  for (let i = 0; i < SAMPLES * SAMPLES; i++) {
    const x = (column + ((i % SAMPLES) + 0.5) / SAMPLES) / SIZE;
    const y = (row + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES) / SIZE;
    const [r, g, b, a] = colourAt(x, y);
    sum[0] += r * a;
    sum[1] += g * a;
    sum[2] += b * a;
    sum[3] += a;
  }
  const opacity = sum[3] || 1;
  return [sum[0] / opacity, sum[1] / opacity, sum[2] / opacity, sum[3] / SAMPLES ** 2].map(Math.round);
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "ascii"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** The icon as a PNG. */
export function drawIcon() {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIZE, 0);
  header.writeUInt32BE(SIZE, 4);
  header.set([8, 6, 0, 0, 0], 8); // 8 bits, RGBA
  const rows = [];
  for (let row = 0; row < SIZE; row++) {
    rows.push(0); // no filter
    for (let column = 0; column < SIZE; column++) {
      rows.push(...pixel(column, row));
    }
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
