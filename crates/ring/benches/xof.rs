//! Benchmarks the expansion of a seed with each candidate for the XOF: ADR 0001.
//!
//! `mask` expands one mask. `sum` adds 16 seeded ciphertexts, the most frequent work of a cloud: it expands each mask
//! and adds mask and body to an accumulator. `addition alone` is the same sum with the masks already expanded. Every
//! candidate draws residues in the same way, as the low bits of a word, rejected if at least q; only the stream and the
//! bytes of a word differ. `Seed` is the crate's own code and equals `AES-128-CTR` byte for byte.
//!
//! Run `cargo bench -p sotto-ring --bench xof`. Prefix it with `RUSTFLAGS='-C target-cpu=native --cfg chacha20_avx512'`
//! for the best of this processor, or with `RUSTFLAGS='--cfg aes_backend="soft" --cfg chacha20_backend="sse2"'` to
//! simulate a processor without AES instructions.

use std::hint::black_box;
use std::sync::Arc;

use chacha20::{ChaCha8, ChaCha20};
use criterion::{Criterion, criterion_group, criterion_main};
use ctr::cipher::{KeyIvInit, StreamCipher};
use shake::{Shake128, Shake128Reader};
use sotto_ring::{Eval, Modulus, Poly, Ring, SEED_BYTES, Seed, primes};
use turboshake::digest::{ExtendableOutput, Update, XofReader};
use turboshake::{TurboShake128, TurboShake128Reader};

type Aes = ctr::Ctr32BE<aes::Aes128>;

const CIPHERTEXTS: u8 = 16;
/// Residues drawn at a time, as in `Seed`.
const CHUNK: usize = 512;

/// A stream of bytes for one limb of one seed. Kind 0 is the main stream; kind 1 gives the redrawn words.
trait Xof {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self;
    fn read(&mut self, out: &mut [u8]);
}

impl Xof for Aes {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self {
        let mut block = [0; 16];
        block[..8].copy_from_slice(&seed[16..]);
        block[9] = kind;
        block[10..12].copy_from_slice(&limb.to_le_bytes());
        Self::new_from_slices(&seed[..16], &block).expect("16-byte key and block")
    }

    fn read(&mut self, out: &mut [u8]) {
        self.write_keystream(out);
    }
}

fn open_chacha<C: KeyIvInit>(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> C {
    let (mut key, mut nonce) = ([0; 32], [0; 12]);
    key[..SEED_BYTES].copy_from_slice(seed);
    nonce[1] = kind;
    nonce[2..4].copy_from_slice(&limb.to_le_bytes());
    C::new_from_slices(&key, &nonce).expect("32-byte key and 12-byte nonce")
}

impl Xof for ChaCha8 {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self {
        open_chacha(seed, kind, limb)
    }

    fn read(&mut self, out: &mut [u8]) {
        self.write_keystream(out);
    }
}

impl Xof for ChaCha20 {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self {
        open_chacha(seed, kind, limb)
    }

    fn read(&mut self, out: &mut [u8]) {
        self.write_keystream(out);
    }
}

fn message(seed: &[u8; SEED_BYTES], kind: u8, limb: u16, lane: u8) -> [u8; SEED_BYTES + 4] {
    let mut message = [0; SEED_BYTES + 4];
    message[..SEED_BYTES].copy_from_slice(seed);
    message[SEED_BYTES] = kind;
    message[SEED_BYTES + 1..SEED_BYTES + 3].copy_from_slice(&limb.to_le_bytes());
    message[SEED_BYTES + 3] = lane;
    message
}

impl Xof for TurboShake128Reader {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self {
        let mut hash = TurboShake128::default();
        hash.update(&message(seed, kind, limb, 0));
        hash.finalize_xof()
    }

    fn read(&mut self, out: &mut [u8]) {
        XofReader::read(self, out);
    }
}

impl Xof for Shake128Reader {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self {
        let mut hash = Shake128::default();
        hash.update(&message(seed, kind, limb, 0));
        hash.finalize_xof()
    }

    fn read(&mut self, out: &mut [u8]) {
        XofReader::read(self, out);
    }
}

/// SHAKE128 (24 rounds) or TurboSHAKE128 (12) in eight lanes that the compiler may vectorise. The stream takes one
/// block of each lane in turn. The crates have one lane only; this makes the comparison with the ciphers fair.
struct Lanes<const ROUNDS: usize> {
    state: [[u64; 8]; 25],
    block: [u8; 8 * RATE],
    left: usize,
}

const RATE: usize = 168;
const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
/// The new index of word x + 5y and its rotation, in the order of π's cycle.
const CYCLE: [(usize, u32); 24] = [
    (10, 1),
    (7, 3),
    (11, 6),
    (17, 10),
    (18, 15),
    (3, 21),
    (5, 28),
    (16, 36),
    (8, 45),
    (21, 55),
    (24, 2),
    (4, 14),
    (15, 27),
    (23, 41),
    (19, 56),
    (13, 8),
    (12, 25),
    (2, 43),
    (20, 62),
    (14, 18),
    (22, 39),
    (9, 61),
    (6, 20),
    (1, 44),
];

impl<const ROUNDS: usize> Lanes<ROUNDS> {
    #[inline(always)]
    fn zip<const K: usize>(words: [&[u64; 8]; K], f: impl Fn([u64; K]) -> u64) -> [u64; 8] {
        std::array::from_fn(|lane| f(words.map(|word| word[lane])))
    }

    fn permute(&mut self) {
        let a = &mut self.state;
        for constant in &ROUND_CONSTANTS[24 - ROUNDS..] {
            let parity: [[u64; 8]; 5] = std::array::from_fn(|x| {
                Self::zip([&a[x], &a[x + 5], &a[x + 10], &a[x + 15], &a[x + 20]], |w| {
                    w[0] ^ w[1] ^ w[2] ^ w[3] ^ w[4]
                })
            });
            for x in 0..5 {
                let (left, right) = (&parity[(x + 4) % 5], &parity[(x + 1) % 5]);
                for y in 0..5 {
                    a[x + 5 * y] =
                        Self::zip([&a[x + 5 * y], left, right], |w| w[0] ^ w[1] ^ w[2].rotate_left(1));
                }
            }
            let mut carried = a[1];
            for (to, turn) in CYCLE {
                let next = a[to];
                a[to] = carried.map(|w| w.rotate_left(turn));
                carried = next;
            }
            for y in 0..5 {
                let row: [[u64; 8]; 5] = std::array::from_fn(|x| a[x + 5 * y]);
                for x in 0..5 {
                    a[x + 5 * y] =
                        Self::zip([&row[x], &row[(x + 1) % 5], &row[(x + 2) % 5]], |w| w[0] ^ (!w[1] & w[2]));
                }
            }
            a[0] = a[0].map(|w| w ^ constant);
        }
    }
}

impl<const ROUNDS: usize> Xof for Lanes<ROUNDS> {
    fn open(seed: &[u8; SEED_BYTES], kind: u8, limb: u16) -> Self {
        let mut state = [[0; 8]; 25];
        for lane in 0..8 {
            let mut padded = [0; RATE];
            padded[..SEED_BYTES + 4].copy_from_slice(&message(seed, kind, limb, lane as u8));
            padded[SEED_BYTES + 4] = 0x1f;
            padded[RATE - 1] = 0x80;
            for (word, bytes) in state.iter_mut().zip(padded.as_chunks::<8>().0) {
                word[lane] = u64::from_le_bytes(*bytes);
            }
        }
        Self { state, block: [0; 8 * RATE], left: 0 }
    }

    fn read(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.left == 0 {
                self.permute();
                for (lane, bytes) in self.block.as_chunks_mut::<RATE>().0.iter_mut().enumerate() {
                    for (word, bytes) in self.state.iter().zip(bytes.as_chunks_mut::<8>().0) {
                        *bytes = word[lane].to_le_bytes();
                    }
                }
                self.left = self.block.len();
            }
            let start = self.block.len() - self.left;
            let count = self.left.min(out.len());
            let (now, later) = out.split_at_mut(count);
            now.copy_from_slice(&self.block[start..start + count]);
            out = later;
            self.left -= count;
        }
    }
}

type TurboShakeLanes = Lanes<12>;
type ShakeLanes = Lanes<24>;

/// Converts words of a stream to residues. Returns a number whose top bit is set if any residue is at least q.
fn cut<const WIDTH: usize>(words: &[[u8; WIDTH]], mask: u64, q: u64, out: &mut [u64]) -> u64 {
    let one = |x: &mut u64, bytes: &[u8; 8], shift: usize| {
        *x = (u64::from_le_bytes(*bytes) >> shift) & mask;
        (q - 1).wrapping_sub(*x)
    };
    let mut over = 0;
    // Narrow words are handled eight at a time; each is loaded together with adjacent bytes.
    let (groups, rest): (&[[[u8; WIDTH]; 8]], _) = if WIDTH < 8 { words.as_chunks() } else { (&[], words) };
    let (outs, out_rest) = out.split_at_mut(8 * groups.len());
    for (xs, group) in outs.as_chunks_mut::<8>().0.iter_mut().zip(groups) {
        let bytes = group.as_flattened();
        for (i, x) in xs.iter_mut().enumerate() {
            let start = (WIDTH * i).min(8 * WIDTH - 8);
            let word = bytes[start..].first_chunk().expect("eight bytes");
            over |= one(x, word, 8 * (WIDTH * i - start));
        }
    }
    for (x, bytes) in out_rest.iter_mut().zip(rest) {
        let mut word = [0; 8];
        word[..WIDTH].copy_from_slice(bytes);
        over |= one(x, &word, 0);
    }
    over
}

/// Expands one limb of uniform residues, `WIDTH` bytes each.
fn expand_limb<X: Xof, const WIDTH: usize>(seed: &[u8; SEED_BYTES], limb: u16, q: &Modulus, out: &mut [u64]) {
    let (mask, q) = (u64::MAX >> (64 - q.bits()), q.value());
    let mut stream = X::open(seed, 0, limb);
    let mut over = 0;
    let mut buffer = [[0; WIDTH]; CHUNK];
    for chunk in out.chunks_mut(CHUNK) {
        let words = &mut buffer[..chunk.len()];
        stream.read(words.as_flattened_mut());
        over |= cut(words, mask, q, chunk);
    }
    if over >> 63 == 1 {
        let mut stream = X::open(seed, 1, limb);
        for x in out.iter_mut() {
            while *x >= q {
                let mut word = [[0; WIDTH]];
                stream.read(word.as_flattened_mut());
                cut(&word, mask, q, std::slice::from_mut(x));
            }
        }
    }
}

/// A function that expands one limb: seed, index of the limb, its prime, residues.
type Expand = fn(&[u8; SEED_BYTES], u16, &Modulus, &mut [u64]);

/// Expands with ceil(b(q)/8) bytes a residue.
fn narrow<X: Xof>(seed: &[u8; SEED_BYTES], limb: u16, q: &Modulus, out: &mut [u64]) {
    match q.bits().div_ceil(8) {
        5 => expand_limb::<X, 5>(seed, limb, q, out),
        6 => expand_limb::<X, 6>(seed, limb, q, out),
        width => unreachable!("no prime here takes {width} bytes"),
    }
}

const CANDIDATES: [(&str, Expand); 10] = [
    ("Seed", |seed, limb, q, out| Seed(*seed).expand_limb(0, usize::from(limb), q, out)),
    ("AES-128-CTR", narrow::<Aes>),
    ("AES-128-CTR, 8 bytes", expand_limb::<Aes, 8>),
    ("ChaCha8", narrow::<ChaCha8>),
    ("ChaCha8, 8 bytes", expand_limb::<ChaCha8, 8>),
    ("ChaCha20", narrow::<ChaCha20>),
    ("TurboSHAKE128, 8 lanes", narrow::<TurboShakeLanes>),
    ("TurboSHAKE128", narrow::<TurboShake128Reader>),
    ("SHAKE128, 8 lanes", narrow::<ShakeLanes>),
    ("SHAKE128", narrow::<Shake128Reader>),
];

/// Checks that every candidate gives residues below q, also if half of the words are rejected; that `Seed` is AES with
/// narrow words; and that the lanes begin like the crates' hash functions.
fn check(ring: &Ring) {
    let wasteful = Modulus::new((1 << 35) + 65).expect("below 2^61");
    let mut moduli = ring.moduli(ring.all_limbs());
    moduli.push(wasteful);
    let mut out = vec![0; ring.degree()];
    for (name, expand) in CANDIDATES {
        for seed in 0..32 {
            for (limb, q) in moduli.iter().enumerate() {
                out.fill(u64::MAX);
                expand(&[seed; SEED_BYTES], limb as u16, q, &mut out);
                assert!(out.iter().all(|x| *x < q.value()), "{name}");
                let mean = out.iter().map(|x| *x as f64 / q.value() as f64).sum::<f64>() / out.len() as f64;
                assert!((mean - 0.5).abs() < 0.05, "{name}: mean {mean}");
            }
        }
    }
    let (mut ours, mut theirs) = (out.clone(), out);
    for (limb, q) in moduli.iter().enumerate() {
        narrow::<Aes>(&[3; SEED_BYTES], limb as u16, q, &mut ours);
        Seed([3; SEED_BYTES]).expand_limb(0, limb, q, &mut theirs);
        assert_eq!(ours, theirs);
    }
    fn first_block<X: Xof>() -> [u8; RATE] {
        let mut block = [0; RATE];
        X::open(&[3; SEED_BYTES], 0, 2).read(&mut block);
        block
    }
    assert_eq!(first_block::<TurboShakeLanes>(), first_block::<TurboShake128Reader>());
    assert_eq!(first_block::<ShakeLanes>(), first_block::<Shake128Reader>());
}

/// Returns bodies, each with the seed of its mask.
fn ciphertexts(ring: &Arc<Ring>) -> Vec<(Poly<Eval>, [u8; SEED_BYTES])> {
    let body = |i| Seed([i; SEED_BYTES]).expand(1, ring, ring.all_limbs());
    (0..CIPHERTEXTS).map(|i| (body(i), [i; SEED_BYTES])).collect()
}

fn bench(c: &mut Criterion) {
    for (degree, limbs, bits) in [(4096, 2, 35), (8192, 4, 42)] {
        let primes: Vec<u64> = primes::below(1 << bits, degree).take(limbs).collect();
        let ring = Ring::new(degree, &primes).expect("primes that are 1 modulo 2n");
        check(&ring);
        let shape = format!("n = {degree}, {limbs} limbs of {bits} bits");

        let mut group = c.benchmark_group(format!("mask, {shape}"));
        for (name, expand) in CANDIDATES {
            let mut mask = Poly::<Eval>::zero(&ring, ring.all_limbs());
            group.bench_function(name, |b| {
                b.iter(|| {
                    for limb in ring.all_limbs() {
                        let seed = black_box(&[7; SEED_BYTES]);
                        expand(seed, limb as u16, ring.modulus(limb), mask.limb_mut(limb));
                    }
                });
            });
        }
        group.finish();

        let terms = ciphertexts(&ring);
        let mut body_sum = Poly::<Eval>::zero(&ring, ring.all_limbs());
        let mut mask_sum = body_sum.clone();
        let add = ring.kernels().add;
        let mut group = c.benchmark_group(format!("sum of {CIPHERTEXTS}, {shape}"));
        for (name, expand) in CANDIDATES {
            let mut mask = vec![0; degree];
            group.bench_function(name, |b| {
                b.iter(|| {
                    for (body, seed) in black_box(&terms) {
                        for limb in ring.all_limbs() {
                            let q = ring.modulus(limb);
                            expand(seed, limb as u16, q, &mut mask);
                            add(q, mask_sum.limb_mut(limb), &mask);
                            add(q, body_sum.limb_mut(limb), body.limb(limb));
                        }
                    }
                });
            });
        }
        let masks: Vec<Poly<Eval>> =
            terms.iter().map(|(_, seed)| Seed(*seed).expand(0, &ring, ring.all_limbs())).collect();
        group.bench_function("addition alone", |b| {
            b.iter(|| {
                for ((body, _), mask) in black_box(&terms).iter().zip(&masks) {
                    mask_sum.add_assign(mask);
                    body_sum.add_assign(body);
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
