//! Runs one kernel of one target a number of times, for an emulator that counts instructions: `cargo ci
//! arm-instructions`.
//!
//! Without arguments it prints the targets, of kernels and of streams, then the rows. With a row, a target and a number n it prepares the data,
//! calls the kernel once, and then n more times: the difference between n = 1 and n = 0 is the cost of a call.

use std::hint::black_box;

use sotto_kernels::{Kernels, Lift, Modulus, NttTable, Quotient, SlotMap, Streams, words_mut};

const DEGREE: usize = 256;

/// Bit length, and a prime of that length that is 1 modulo 2^16.
const PRIMES: [(u32, u64); 3] =
    [(43, 8_796_087_255_041), (50, 1_125_899_902_124_033), (60, 1_152_921_504_606_584_833)];

const KERNELS: [&str; 29] = [
    "forward",
    "forward open",
    "inverse",
    "inverse from",
    "add",
    "add rows",
    "subtract",
    "negate",
    "multiply",
    "add product",
    "scale",
    "subtract, scale",
    "from signed",
    "convert",
    "round quotient",
    "lift",
    "inner products",
    "inner products, moved",
    "sum",
    "product",
    "subtract rest",
    "tensor",
    "product, sum",
    "centre",
    "horner",
    "permute",
    "square",
    "scatter slots",
    "gather slots",
];

const STREAMS: [&str; 10] = [
    "residues",
    "pack",
    "ternary",
    "centred binomial",
    "add scaled",
    "stream lift",
    "any beyond",
    "subtract product",
    "ChaCha20",
    "BLAKE3",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [row, target, times] = arguments.as_slice() else {
        Kernels::available().iter().for_each(|target| println!("target {}", target.name));
        Streams::available().iter().for_each(|target| println!("streams {}", target.name));
        for (bits, _) in PRIMES {
            KERNELS.iter().for_each(|name| println!("row {name}/{bits}"));
            // Most stream kernels do not depend on the prime.
            let streams = if bits == 50 { &[] } else { &STREAMS[..] };
            streams.iter().for_each(|name| println!("row {name}/{bits}"));
        }
        return;
    };
    let (name, bits) = row.split_once('/').expect("name/bits");
    let prime = PRIMES.iter().find(|(b, _)| b.to_string() == bits).expect("bits of a row").1;
    let times: usize = times.parse().expect("a number of times");
    let kernels = Kernels::available().into_iter().find(|t| t.name == *target).expect("a target");
    let streams = Streams::available().into_iter().find(|t| t.name == *target).expect("a target of streams");
    run(name, &kernels, &streams, prime, times);
}

fn run(name: &str, k: &Kernels, s: &Streams, q: u64, times: usize) {
    let table = NttTable::new(Modulus::new(q).expect("a modulus"), DEGREE).expect("a prime");
    let m = *table.modulus();
    let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
    let [a, b]: [Vec<u64>; 2] = [0, DEGREE].map(|from| (from..from + DEGREE).map(word).collect());
    let (mut x, mut y, mut z) = (a.clone(), a.clone(), a.clone());
    let mut signed: Vec<i64> = (0..DEGREE as i64).map(|i| (i - 100) * 0x1234_5678).collect();
    let other = signed.clone();
    let slots = SlotMap::new(DEGREE);
    let map: Vec<u32> = (0..DEGREE as u32).map(|i| i ^ 5).collect();
    let bytes: Vec<u8> = (0..8 * DEGREE + 64).map(|i| (i * 37) as u8).collect();
    let mut packed = vec![0; (DEGREE * m.bits() as usize).div_ceil(8)];
    let (f, g, bits) = (m.factor(12345), m.factor(q - 5), m.bits());
    let quotient = Quotient { constant: 1 << 51, shift: bits + 26 };
    let (mut blocks, states) = ([[0; 16]; 16], [[5; 16]; 16]);
    let mut values = [[5; 16]; 8];
    let lift = Lift { modulus: q - 2, threshold: q / 2 };
    for _ in 0..1 + times {
        let (x, y, z) = (black_box(&mut x[..]), &mut y[..], &mut z[..]);
        let (a, b) = (&a[..], &b[..]);
        match name {
            "forward" => (k.ntt_forward)(&table, x),
            "forward open" => {
                x.copy_from_slice(a);
                (k.ntt_forward_open)(&table, x);
            }
            "inverse" => (k.ntt_inverse)(&table, x),
            "inverse from" => (k.ntt_inverse_from)(&table, x, a, f),
            "add" => (k.add)(&m, x, a),
            "add rows" => (k.add_rows)(&m, x, &[a, b, a, b]),
            "subtract" => (k.subtract)(&m, x, a),
            "negate" => (k.negate)(&m, x),
            "multiply" => (k.multiply)(&m, x, a),
            "add product" => (k.add_product)(&m, x, a, b),
            "scale" => (k.scale)(&m, x, f),
            "subtract, scale" => (k.subtract_scale)(&m, x, a, f),
            "from signed" => (k.from_signed)(&m, x, &signed),
            "convert" => (k.convert)(&m, x, &[a, b, a, b], bits, &[1, 2, 3, q - 1], 7),
            "round quotient" => (k.round_quotient)(x, &[a, b], &[quotient; 2]),
            "lift" => (k.lift)(&m, x, a, &lift),
            "inner products" => (k.inner_products)(&m, [x, y], &[a, b, a], &[[a, b]; 3], None),
            "inner products, moved" => (k.inner_products)(&m, [x, y], &[a, b, a], &[[a, b]; 3], Some(&map)),
            "sum" => (k.sum)(&m, x, a, b),
            "product" => (k.product)(&m, x, a, b),
            "subtract rest" => (k.subtract_rest)(&m, x, Some(a), b, [f, g], Some(a)),
            "tensor" => (k.tensor)(&m, [x, y, z], [a, b], [b, a]),
            "product, sum" => (k.product_sum)(&m, x, a, b, a),
            "centre" => (k.centre)(&m, words_mut(&mut signed)),
            "horner" => (k.horner)(&mut signed, -77, &other),
            "permute" => (k.permute)(x, a, &map),
            "square" => (k.square)(&m, [x, y, z], [a, b]),
            "scatter slots" => (k.scatter_slots)(&m, x, &other, &slots),
            "gather slots" => (k.gather_slots)(&m, &mut signed, a, &slots),
            "residues" => {
                black_box((s.residues)(&m, &bytes, bits, x));
            }
            "pack" => (s.pack)(a, bits, &mut packed),
            "ternary" => (s.ternary)(&bytes[..8 * DEGREE], &mut signed),
            "centred binomial" => (s.centred_binomial)(&bytes[..8 * DEGREE], &mut signed),
            "add scaled" => (s.add_scaled)(&mut signed, &other, 3),
            "stream lift" => (s.lift)(&m, x, &other),
            "any beyond" => {
                black_box((s.any_beyond)(&other, 1 << 60));
            }
            "subtract product" => (s.subtract_product)(&m, x, a, b),
            "ChaCha20" => (s.chacha20)(black_box(&states), &mut blocks),
            "BLAKE3" => (s.blake3)(&mut values, black_box(&states), 64, 0),
            _ => panic!("no row {name}"),
        }
    }
    black_box((x, y, z, signed, packed, blocks, values));
}
