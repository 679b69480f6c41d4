//! The largest sums, forged ones, numbers used twice, misfits.

use sotto_sums::{
    Answer, EncryptError, Encryptor, Form, OpenError, Opening, PRIME, Part, Place, StartKeys, Sum, SumError,
};

use crate::windows::{SECRET, STREAM, Shape, Window, encrypted, encrypted_once, key, opening, summed};

/// The largest weights that fit, for values at both ends; one more is refused before the answer is read.
#[test]
fn the_largest_sums_fit() {
    for (width, least, most, total) in [
        (8, 0, 17, 15),
        (8, -17, 0, 15),
        (8, -9, 8, 15),
        (60, 0, 1, 1 << 44),
        (60, 0, 0, 1 << 44),
        (60, 0, (1 << 16) - 1, 1 << 44),
        (1, 0, 1, 1),
        (60, -(1 << 58), 1 << 58, 1),
    ] {
        let columns = [Place::new(width, least, most).unwrap()];
        let form = Form::new(&columns, &[], 1, 0, 0).unwrap();
        for weight in [total, -total] {
            for value in [least, most] {
                let mut windows = encrypted_once(&form, value);
                windows[0].weight = weight;
                let (opening, sum) = (opening(&form, 0, &windows), summed(&form, &windows));
                assert!(opening.fits());
                assert_eq!(
                    opening.open(&key(&form, 0), &Answer::from(&sum)),
                    Ok(vec![weight * value]),
                    "{width} bits"
                );
            }
        }
        let mut windows = encrypted_once(&form, most);
        windows[0].weight = total + 1;
        let opening = opening(&form, 0, &windows);
        assert!(!opening.fits());
        windows[0].weight = 1;
        let sum = summed(&form, &windows);
        assert_eq!(opening.open(&key(&form, 0), &Answer::from(&sum)), Err(OpenError::Weights));
    }
}

fn answer<'a>(form: &Form<'a>, bytes: &'a [u8]) -> Answer<'a> {
    Answer::from((&Part::read(form, 1, bytes).unwrap(), &[1][..]))
}

/// None of a million sums shifted at random, with a random difference of tags.
#[test]
fn forged_sums_are_refused() {
    let columns = [Place::new(6, 0, 1).unwrap()];
    let form = Form::new(&columns, &columns, 1, 0, 1).unwrap();
    let key = key(&form, 0);
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[0; 12], 0);
    let mut bytes = vec![0; 2];
    let tag = encryptor.window(0).unwrap().encrypt(&form, 1, 0, [Some(1), Some(0)], [1], &mut bytes).unwrap();
    bytes.extend(tag.to_bytes());
    let mut opening = Opening::new(&form, 0);
    opening.add(&StartKeys::derive(&SECRET, &STREAM, &[0; 12]), 0, 1, 1, |_| true);
    assert_eq!(opening.open(&key, &answer(&form, &bytes)), Ok(vec![1, 0]));
    let body = u16::from_le_bytes([bytes[0], bytes[1]]);
    let mut word = 1_u64;
    for _ in 0..1_000_000 {
        word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let shifted = (body & 0xfc0) | ((body + 1 + (word >> 60) as u16) & 0x3f);
        bytes[..2].copy_from_slice(&shifted.to_le_bytes());
        bytes[2..].copy_from_slice(&((word ^ word >> 29) % PRIME).to_le_bytes());
        assert_eq!(opening.open(&key, &answer(&form, &bytes)), Err(OpenError::Refused));
    }
}

/// Two windows under one number give a difference away, with which every sum can be shifted: hence the conditions.
#[test]
fn a_number_used_twice_shifts_every_sum() {
    let columns = [Place::new(30, 0, 4095).unwrap()];
    let form = Form::new(&columns, &[], 1, 0, 0).unwrap();
    let column = |windows: &[Window]| summed(&form, windows).columns().next().unwrap();
    let (first, second, other) = (
        encrypted_once(&form, 100),
        encrypted_once(&form, 90),
        encrypted(
            &Shape { once: columns.to_vec(), tick: vec![], counts: (1, 0) },
            0,
            &[(1, 0, vec![(2000, true)], vec![1; 12], 1)],
        ),
    );
    assert_eq!(column(&first) - column(&second), 10);
    // other + first − second, told as other.
    let mut windows = other;
    let asked = opening(&form, 0, &windows);
    windows.extend(first);
    windows.extend(second.into_iter().map(|window| Window { weight: -1, ..window }));
    let shifted = summed(&form, &windows);
    assert_eq!(asked.open(&key(&form, 0), &Answer::from(&shifted)), Ok(vec![2010]));
}

#[test]
fn misfits_are_refused_by_name() {
    let columns = [Place::new(13, 0, 100).unwrap()];
    let form = Form::new(&columns, &columns, 1, 1, 2).unwrap();
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[0; 12], 5);
    assert_eq!(encryptor.window(4).err(), Some(EncryptError::Number));
    let mut window = encryptor.window(7).unwrap();
    let mut body = [1; 4];
    let whole = [Some(1), Some(2)];
    let mut refused = |ticks, values: &[Option<i64>], counts: &[u16], length: usize| {
        body.fill(1);
        let refused = window.encrypt(
            &form,
            ticks,
            0,
            values.iter().copied(),
            counts.iter().copied(),
            &mut body[..length],
        );
        assert_eq!(body[..length], [0; 4][..length], "nothing of the window is left");
        refused.err()
    };
    assert_eq!(refused(3, &whole, &[1, 1], 4), Some(EncryptError::Ticks));
    assert_eq!(refused(1, &whole, &[1, 1], 3), Some(EncryptError::Output));
    assert_eq!(refused(1, &whole[..1], &[1, 1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &[None; 3], &[1, 1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &whole, &[1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &whole, &[1, 1, 1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &[Some(1), Some(101)], &[1, 1], 4), Some(EncryptError::Range));
    assert_eq!(refused(1, &[Some(-1), Some(1)], &[1, 1], 4), Some(EncryptError::Range));
    // A refused part may be encrypted with other values.
    assert_eq!(refused_is_none(&mut window, &form), None);
    let last = encryptor.window(u64::MAX).map(|_| ());
    assert_eq!((last, encryptor.window(u64::MAX).err()), (Ok(()), Some(EncryptError::Number)));

    let mut sum = Sum::new(&form);
    let part = Part::read(&form, 1, &[0; 12]).unwrap();
    assert_eq!(sum.add(&part, &[1], 1), Err(SumError::Counts { expected: 2, found: 1 }));
    sum.add(&part, &[1, 0], (1 << 60) - 1).unwrap();
    assert_eq!(sum.add(&part, &[1, 0], 1), Err(SumError::Overflow));
    assert_eq!(sum.add(&part, &[u16::MAX, 0], i64::MIN), Err(SumError::Overflow));
    assert!(matches!(sum.add_rows(1, &[0; 13], &[1, 1]), Err(SumError::Row(_))));
    assert!(matches!(sum.add_rows(1, &[0xff; 12], &[1, 1]), Err(SumError::Row(_))));
    assert_eq!(sum.counts(), [(1 << 60) - 1, 0], "nothing was added");
}

fn refused_is_none(window: &mut sotto_sums::Window<'_>, form: &Form<'_>) -> Option<EncryptError> {
    window.encrypt(form, 1, 0, [Some(1), Some(2)], [1, 1], &mut [0; 4]).err()
}
