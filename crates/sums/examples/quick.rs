#![allow(missing_docs, clippy::unwrap_used)]
use sotto_sums::*;
use std::hint::black_box;
use std::time::Instant;
fn best(name: &str, per: u64, mut f: impl FnMut()) {
    let mut least = u64::MAX;
    let end = Instant::now();
    let mut n = 0;
    while n < 300 && end.elapsed().as_millis() < 1500 {
        let t = Instant::now();
        f();
        least = least.min(t.elapsed().as_nanos() as u64);
        n += 1;
    }
    println!("{name}: {:.1} ns", least as f64 / per as f64);
}
fn main() {
    let columns = [Place::new(23, 0, 4095).unwrap()];
    let c32 = [Place::new(32, 0, 4095).unwrap()];
    let (s, t, salt) = ([1; 32], [2; 32], [3; 12]);
    let readings: [i64; 16] = core::array::from_fn(|at| (at as i64 * 977 + 13) % 4096);
    for each in [0, 1] {
        let form = Form::new(&[], &columns, 1, each, 16).unwrap();
        let counts = vec![1u32; form.counts(16)];
        let mut e = Encryptor::new(&s, &t, &salt, 0);
        let mut number = 0;
        let mut body = vec![0; form.body_bytes(16)];
        best(&format!("encrypt {each}"), 200, || {
            for _ in 0..200 {
                number += 1;
                let mut w = e.window(number).unwrap();
                black_box(
                    w.encrypt(&form, 16, 0, black_box(readings).map(Some), counts.iter().copied(), &mut body)
                        .unwrap(),
                );
            }
        });
        let mut w = e.window(1 << 40).unwrap();
        let tag = w.encrypt(&form, 16, 0, readings.map(Some), counts.iter().copied(), &mut body).unwrap();
        let mut row = body.clone();
        row.extend(tag.to_bytes());
        let key = TagKey::new(&StreamKeys::derive(&s, &t), &form, 0);
        let start = StartKeys::derive(&s, &t, &salt);
        let mut n2 = 1 << 41;
        best(&format!("encrypt_with {each}"), 200, || {
            for _ in 0..200 {
                n2 += 1;
                let mut w = e.window(n2).unwrap();
                black_box(
                    w.encrypt_with(
                        &key,
                        &form,
                        16,
                        black_box(readings).map(Some),
                        counts.iter().copied(),
                        &mut body,
                    )
                    .unwrap(),
                );
            }
        });
        best(&format!("open {each}"), 200, || {
            for _ in 0..200 {
                let answer = Answer::from((&Part::read(&form, 16, &row).unwrap(), &counts[..]));
                let mut opening = Opening::new(&form, 0);
                opening.add(&start, 1 << 40, 16, 1, |_| true);
                black_box(opening.open(&key, &answer).unwrap());
            }
        });
        best("opening.add", 200, || {
            for i in 0..200 {
                let mut opening = Opening::new(&form, 0);
                opening.add(&start, i, 16, 1, |_| true);
                black_box(opening.fits());
            }
        });
        best("TagKey::new", 100, || {
            for _ in 0..100 {
                black_box(&TagKey::new(&StreamKeys::derive(&s, &t), &form, 0));
            }
        });
    }
    best("derive", 100, || {
        for _ in 0..100 {
            black_box((&StreamKeys::derive(&s, &t), &StartKeys::derive(&s, &t, &salt)));
        }
    });
    let form = Form::new(&[], &c32, 1, 0, 16).unwrap();
    let start = StartKeys::derive(&s, &t, &salt);
    let ones: Vec<(u64, i64)> =
        (0..8000u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24, 1)).collect();
    let mixed: Vec<(u64, i64)> = ones.iter().map(|(n, _)| (*n, (n % 7) as i64 - 3)).collect();
    for (n, l) in [("ones", &ones), ("mixed", &mixed)] {
        best(&format!("add_whole {n} per window"), 8000, || {
            let mut opening = Opening::new(&form, 0);
            opening.add_whole(&start, 16, l);
            black_box(opening.fits());
        });
    }
    for width in [32, 23, 40] {
        let c = [Place::new(width, 0, 4095).unwrap()];
        let form = Form::new(&[], &c, 1, 0, 16).unwrap();
        let row = vec![0u8; form.body_bytes(16) + 8];
        let rows = row.repeat(8000);
        best(&format!("add_rows {width} per window"), 8000, || {
            let mut sum = Sum::new(&form);
            sum.add_rows(16, &rows, &[1]).unwrap();
            black_box(&sum);
        });
        best(&format!("add {width} per window"), 8000, || {
            let mut sum = Sum::new(&form);
            for row in rows.chunks_exact(row.len()) {
                sum.add(&Part::read(&form, 16, row).unwrap(), &[1], 1).unwrap();
            }
            black_box(&sum);
        });
    }
    let bytes = vec![1u64; 9_000_000];
    best("72 MB ms", 1_000_000, || {
        black_box(black_box(&bytes).iter().fold(0u64, |s, w| s.wrapping_add(*w)));
    });
}
