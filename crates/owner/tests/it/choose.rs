//! Chosen parameters suffice and are small.

use std::collections::BTreeSet;

use sotto_owner::{
    BinsNeeded, FloodingSettings, Kind, Needs, SUMMED_WINDOWS, StreamNeeds, WindowQuantity, choose,
    stream_report,
};
use sotto_pack::{Channel, Digit, Period, Quantity, Span};
use sotto_rlwe::Kept;

fn channel(name: &str, minimum: f64, maximum: f64, resolution: f64) -> Channel {
    Channel {
        name: name.into(),
        unit: String::new(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    }
}

fn stream(kind: Kind, period: u32, span: Span, channels: &[&str], needs: Needs) -> StreamNeeds {
    let channels = channels.iter().map(|name| (*name).to_owned()).collect();
    StreamNeeds {
        kind,
        period: Period::from_milliseconds(period),
        span,
        channels,
        needs,
        questions: Vec::new(),
        public: false,
        scheme: None,
        joined: false,
        part: 0,
    }
}

#[test]
fn sums_take_no_lattice_and_reals_take_ckks() {
    let temperature = [channel("temperature", -20.0, 120.0, 0.1)];
    let both = [channel("humidity", 0.0, 100.0, 0.1), channel("temperature", -20.0, 120.0, 0.1)];
    let squares = Needs { squares: true, ..Needs::default() };
    let pair = BTreeSet::from([("humidity".to_owned(), "temperature".to_owned())]);
    let products = Needs { squares: true, products: pair, ..Needs::default() };
    let weights = Needs { weights: true, ..Needs::default() };
    let cubic = Needs { degree: 3, ..Needs::default() };
    let model = Needs { degree: 1, models: true, ..Needs::default() };
    let mut before = 0;
    for (kind, span, channels, needs) in [
        (Kind::Exact, Span::Day, &temperature[..], Needs::default()),
        (Kind::Exact, Span::Hour, &temperature[..], squares.clone()),
        (Kind::Exact, Span::Day, &temperature[..], squares),
        (Kind::Exact, Span::Day, &temperature[..], weights),
        (Kind::Exact, Span::Day, &both[..], products),
        (Kind::Real, Span::Day, &temperature[..], cubic),
        (Kind::Real, Span::Day, &both[..], model),
    ] {
        let names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
        let begin = std::time::Instant::now();
        let chosen = choose(&stream(kind, 300_000, span, &names, needs.clone()), channels).unwrap();
        println!(
            "{span:?} {names:?} {needs:?}: {} n = {} | {} bytes up, {} down for {} results, keys {} | ticks {} | {:?}",
            chosen.scheme(),
            chosen.degree(),
            chosen.window_bytes,
            chosen.answer_bytes,
            chosen.results_in_one,
            chosen.key_bytes,
            chosen.cut.ticks,
            begin.elapsed(),
        );
        assert_eq!(chosen.scheme(), if kind == Kind::Real { "CKKS" } else { "sums" });
        assert!(chosen.noise_bits_left >= 0.0);
        assert!(kind == Kind::Real || chosen.window_bytes >= before.min(chosen.window_bytes));
        before = chosen.window_bytes;
    }
}

/// Widths hold sums of 512 windows and not one more bit: readings of ±700 steps, squares from 0 to 700².
#[test]
fn places_are_as_wide_as_a_year_of_days_needs() {
    let temperature = [channel("temperature", -20.0, 120.0, 0.1)];
    let needs = Needs { squares: true, ..Needs::default() };
    let chosen =
        choose(&stream(Kind::Exact, 60_000, Span::Hour, &["temperature"], needs), &temperature).unwrap();
    assert_eq!((chosen.spec.clone(), chosen.cut.ticks, chosen.sums.len()), (None, 60, 2));
    let widths: Vec<u8> =
        chosen.sums.iter().flat_map(|part| &part.quantities).map(|placed| placed.width).collect();
    let bits = |span: u64| (span * SUMMED_WINDOWS + 1).next_power_of_two().ilog2() as u8;
    assert_eq!(widths, [bits(1400), bits(700 * 700)]);
    let most = |width: u8, span: u64| ((1u64 << width) - 1) / span;
    assert_eq!(chosen.sums_of, most(widths[0], 1400).min(most(widths[1], 700 * 700)));
    assert!(chosen.sums_of >= SUMMED_WINDOWS);
    // Readings and squares, each with a tag.
    let bodies = (60 * usize::from(widths[0])).div_ceil(8) + (60 * usize::from(widths[1])).div_ceil(8);
    assert_eq!(chosen.window_bytes, sotto_wire::SUMS_WINDOW_OVERHEAD + bodies + 16);
    let bytes = |windows| chosen.window_bytes_for(windows).unwrap();
    assert!(bytes(64) < bytes(512) && bytes(512) == chosen.window_bytes && bytes(4096) < bytes(1_000_000));
}

/// Squares of 2^29 steps take 60 bits alone: their sums travel as two digits.
#[test]
fn a_wide_quantity_travels_as_two_digits() {
    let counter = [channel("counter", 0.0, 1_073_741_823.0, 1.0)];
    let needs = Needs { squares: true, ..Needs::default() };
    let chosen = choose(&stream(Kind::Exact, 3_600_000, Span::Day, &["counter"], needs), &counter).unwrap();
    let digits: Vec<Digit> = chosen.sums[1].quantities.iter().map(|placed| placed.digit).collect();
    assert_eq!((digits, chosen.sums[0].quantities.len()), (vec![Digit::Low, Digit::High], 1));
    assert!(chosen.sums_of >= SUMMED_WINDOWS);
}

/// Reals are sent as the coefficients that carry their slots, and several results share one ciphertext.
#[test]
fn windows_of_reals_are_compact() {
    let temperature = [channel("temperature", -20.0, 120.0, 0.1)];
    let cubic = Needs { degree: 3, ..Needs::default() };
    for (period, span, slots) in
        [(300_000, Span::Day, 512), (900_000, Span::Day, 128), (60_000, Span::Hour, 64)]
    {
        let needs = stream(Kind::Real, period, span, &["temperature"], cubic.clone());
        let chosen = choose(&needs, &temperature).unwrap();
        let (profile, degree) = (chosen.profile(chosen.stream.name()), chosen.degree());
        assert_eq!((profile.slots, profile.envelope), (Some(slots), 2));
        assert_eq!(chosen.kept(), Some(Kept::Folded(slots as usize)));
        assert_eq!(chosen.results_in_one, (degree / 2 / slots as usize).min(64));
        let (places, bits) = chosen.sent().unwrap();
        let body = places * bits as usize / 8;
        assert!((body..body + 256).contains(&chosen.window_bytes), "{} {body}", chosen.window_bytes);
        // Folded: the conjugation comes first.
        let (expansion, keys) = ((degree / 2 / places).ilog2() as usize, &chosen.keys);
        assert!(keys.relinearisation && keys.swap_rows && keys.rotations.len() == expansion, "{keys:?}");
        let readings = chosen.readings() as usize;
        // The number of readings is rounded up to a number of slots.
        assert!(chosen.window_bytes <= 26 * slots as usize + 100, "{}", chosen.window_bytes);
        if readings == 60 {
            assert!(chosen.window_bytes <= 26 * 60 + 100, "{}", chosen.window_bytes);
        }
    }
}

/// Flooding's error counts towards the precision: parameters leave room for it, or the choice is refused.
#[test]
fn shared_reals_take_room_for_flooding() {
    let temperature = [channel("temperature", -20.0, 120.0, 0.1)];
    let needs = |degree: u32, precision: f64, flooding: Option<FloodingSettings>| {
        let needs = Needs { degree, precision: Some(precision), flooding, ..Needs::default() };
        stream(Kind::Real, 3_600_000, Span::Day, &["temperature"], needs)
    };
    let shared = Some(FloodingSettings::default());
    let alone = choose(&needs(1, 1e-4, None), &temperature).unwrap();
    assert_eq!(alone.flooding_bits, None);
    let mut before = alone.window_bytes;
    println!("not shared: n = {}, {} bytes a window", alone.degree(), alone.window_bytes);
    for (degree, precision) in [(1, 0.2), (1, 0.005), (3, 0.2)] {
        let chosen = choose(&needs(degree, precision, shared), &temperature).unwrap();
        let bits = chosen.flooding_bits.unwrap();
        println!(
            "degree {degree} within {precision}: n = {}, {} bytes a window, {} in one, flooding {bits:.1} bits",
            chosen.degree(),
            chosen.window_bytes,
            chosen.results_in_one
        );
        // 21.8 bits for a single value and 1,000 results, and half a bit for each doubling of the values.
        let values = chosen.results_in_one as f64 * f64::from(chosen.cut.ticks);
        assert!((bits - 21.8 - values.log2() / 2.0).abs() < 0.1, "{bits} bits for {values} values");
        assert!(chosen.window_bytes > before);
        before = chosen.window_bytes;
    }
    let few = Some(FloodingSettings { results: 1, ..FloodingSettings::default() });
    let fewer = choose(&needs(1, 0.2, few), &temperature).unwrap().flooding_bits.unwrap();
    assert!(fewer < 21.0, "{fewer} bits for a single result");
    for (degree, precision) in [(1, 1e-4), (3, 0.01)] {
        let refused = choose(&needs(degree, precision, shared), &temperature).unwrap_err().to_string();
        assert!(refused.contains("noise and flooding") && refused.contains("--precision"), "{refused}");
    }
}

/// A comparison in the cloud takes its levels; a finer one than there is, or than n = 32768 has room for, is refused with the
/// way out.
#[test]
fn comparisons_in_the_cloud_take_their_levels() {
    let temperature = [channel("temperature", -20.0, 120.0, 0.1)];
    let needs = |degree: u32, gap_bits: Option<u8>| {
        let needs = Needs { degree, gap_bits, conditions: true, ..Needs::default() };
        stream(Kind::Real, 3_600_000, Span::Day, &["temperature"], needs)
    };
    let here = choose(&needs(1, None), &temperature).unwrap();
    let other = here.alternatives.last().unwrap();
    assert!(other.scheme.contains("compared in the cloud") && other.why.contains("compare ="), "{other:?}");
    let mut before = usize::from(here.levels_used);
    for (gap_bits, depth) in [(4, 7), (6, 9), (8, 12)] {
        let chosen = choose(&needs(1, Some(gap_bits)), &temperature).unwrap();
        let levels = usize::from(chosen.levels_used);
        // The factor of the polynomial takes a level.
        assert_eq!((levels, chosen.spec.as_ref().unwrap().data.len()), (depth + 1, depth + 2), "{gap_bits}");
        assert!(levels > before && chosen.keys.relinearisation);
        assert!(chosen.degree() <= 32768 && chosen.window_bytes > here.window_bytes);
        before = levels;
    }
    for (degree, gap_bits, word) in [(1, 13, "1/2048"), (8, 12, "compare = \"owner\"")] {
        let refused = choose(&needs(degree, Some(gap_bits)), &temperature).unwrap_err().to_string();
        assert!(refused.contains(word) && refused.contains("--precision"), "{refused}");
    }
}

/// Extremes of single windows are in a part of their own, of as many bits as a reading, and make no sum shorter.
#[test]
fn extremes_take_a_part_of_their_own() {
    use WindowQuantity::{Largest, Least};
    let channels = [channel("temperature", -40.0, 100.0, 0.1), channel("flow", 0.0, 9.0, 1.0)];
    let of = |windows: &[(&str, &[WindowQuantity])]| {
        let windows = windows.iter().map(|(name, all)| ((*name).to_owned(), all.iter().copied().collect()));
        let needs = Needs { squares: true, windows: windows.collect(), ..Needs::default() };
        choose(&stream(Kind::Exact, 600_000, Span::Day, &["temperature", "flow"], needs), &channels).unwrap()
    };
    let (with, without) = (of(&[("temperature", &[Least, Largest]), ("flow", &[Largest])]), of(&[]));
    assert_eq!((with.sums.len(), without.sums.len()), (3, 2));
    assert_eq!(with.sums[..2], without.sums[..]);
    let placed: Vec<(Quantity, u8)> =
        with.sums[2].quantities.iter().map(|placed| (placed.quantity.clone(), placed.width)).collect();
    // 1,401 steps, and 10.
    let expected = [(Quantity::Least(0), 11), (Quantity::Largest(0), 11), (Quantity::Largest(1), 4)];
    assert_eq!(placed, expected);
    assert_eq!((with.sums_of, with.answer_bytes), (without.sums_of, without.answer_bytes));
    // 26 bits, and a tag.
    assert_eq!(with.window_bytes - without.window_bytes, 4 + 8);
    for windows in [64, 1_000_000] {
        let [with, without] = [&with, &without].map(|chosen| chosen.window_bytes_for(windows).unwrap());
        assert_eq!(with - without, 12, "{windows}");
    }
    let held = stream_report(&with).window_by_window.unwrap();
    assert_eq!((held.values, held.bytes_sent), (3, 12));
    assert_eq!(stream_report(&without).window_by_window, None);
}

/// A device with public keys sends whole ciphertexts, whose noise is that of a public key, and needs no keys of an
/// expansion.
#[test]
fn public_keys_take_whole_ciphertexts() {
    let temperature = [channel("temperature", -20.0, 120.0, 0.5)];
    let bins = [("temperature".to_owned(), vec![BinsNeeded::Equal(16)])].into();
    let squares = Needs { squares: true, bins, ..Needs::default() };
    let cubic = Needs { degree: 3, ..Needs::default() };
    let compared = Needs { degree: 1, conditions: true, gap_bits: Some(4), ..Needs::default() };
    for (kind, needs) in
        [(Kind::Exact, squares), (Kind::Real, cubic), (Kind::Real, compared), (Kind::Steps, Needs::default())]
    {
        let secret = stream(kind, 3_600_000, Span::Day, &["temperature"], needs);
        let public = StreamNeeds { public: true, ..secret.clone() };
        let [secret, public] = [secret, public].map(|needs| choose(&needs, &temperature).unwrap());
        let (spec, profile) = (public.spec.as_ref().unwrap(), public.profile(public.stream.name()));
        let bits: u32 = spec.data.iter().map(|q| u64::BITS - q.leading_zeros()).sum();
        let whole = 2 * spec.degree * bits as usize / 8;
        assert!((whole..whole + 200).contains(&public.window_bytes), "{} {whole}", public.window_bytes);
        assert!(public.window_bytes > 20 * secret.window_bytes);
        assert_eq!((public.sent(), profile.sums, profile.envelope), (None, Vec::new(), 1));
        assert!(profile.public && public.noise_bits_left >= 0.0);
        assert_eq!(profile.slots.is_some(), kind != Kind::Exact);
        let without = public.alternatives.iter().any(|other| other.why.contains("holds public keys"));
        assert!(without && !public.alternatives.iter().any(|other| other.scheme.contains("public")));
    }
}
