//! Descriptions of windows that fit an envelope.

use sotto_pack::{DescriptionError, LeftOut, WindowDescription};

/// Returns a description whose counts of readings left out are at most 65,535 each: tags of sums cover 16 bits of a
/// count, and a window that counts more is refused.
pub(super) fn countable(description: WindowDescription) -> WindowDescription {
    let cut = |all: &LeftOut| {
        let mut left_out = LeftOut::default();
        all.iter().for_each(|(reason, count)| left_out.add(reason, count.min(u16::MAX.into())));
        left_out
    };
    let left_out = description.left_out.iter().map(cut).collect();
    WindowDescription { left_out, ..description }
}

/// Returns a window's description and its JSON. If the JSON is too long, drops the counts of readings left out, with a
/// warning.
/// The ticks that have a reading are never dropped: `streams::open` refuses a stream whose description could be too
/// long without counts.
pub(super) fn fitting(
    mut description: WindowDescription,
    stream: &str,
    sequence: u64,
) -> Result<(WindowDescription, Vec<u8>), DescriptionError> {
    let json = match description.to_json() {
        Err(DescriptionError::TooLong { .. }) if !description.left_out.is_empty() => {
            tracing::warn!(
                stream,
                sequence,
                "the description is too long: it does not count the readings left out"
            );
            description.left_out.clear();
            description.to_json()
        }
        json => json,
    };
    Ok((description, json?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_pack::Period;
    use sotto_pack::{Channel, Encoding, LARGEST_DESCRIPTION, Layout, Reading, Reason, Window};

    #[test]
    fn counts_of_sums_end_at_65535() {
        let channel = Channel { name: "a".into(), maximum: 1.0, resolution: Some(0.1), ..Channel::default() };
        let layout = Layout::of_sums(vec![channel], 4).unwrap();
        let mut window = Window::new(layout, 0, Period::from_milliseconds(1000)).unwrap();
        for (reason, count) in [(Reason::Empty, 65_535), (Reason::Late, 65_536), (Reason::Future, 1 << 40)] {
            window.leave_out(0, reason, count);
        }
        window.push(&Reading { at: 0, channel: 0, value: 0.5 }).unwrap();
        let description = countable(WindowDescription::from(&window.close()));
        let counts: Vec<u64> = description.left_out[0].iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [65_535; 3]);
    }

    #[test]
    fn counts_are_dropped_where_a_description_is_too_long_and_ticks_are_not() {
        let channel = |number: u16| Channel {
            name: format!("channel-{number:03}"),
            maximum: 1.0,
            ..Channel::default()
        };
        let channels: Vec<Channel> = (0..128).map(channel).collect();
        let layout = Layout::smallest(channels, 16, 2048, 2, Encoding::Integer { bits: 8 }).unwrap();
        let mut window = Window::new(layout, 0, Period::from_milliseconds(1000)).unwrap();
        for channel in 0..128 {
            window.push(&Reading { at: 3000, channel, value: 0.5 }).unwrap();
            window.leave_out(channel, Reason::Empty, 1);
        }
        let description = WindowDescription::from(&window.close());
        let (_, short) = fitting(description.clone(), "s", 0).unwrap();
        assert_eq!(WindowDescription::parse(&short).unwrap(), description);

        let mut long = description;
        let all = |left_out: &mut sotto_pack::LeftOut| {
            Reason::ALL.iter().for_each(|reason| left_out.add(*reason, 1 << 40));
        };
        long.left_out.iter_mut().for_each(all);
        assert!(long.to_json().is_err());
        let (_, json) = fitting(long.clone(), "s", 0).unwrap();
        assert!(json.len() <= LARGEST_DESCRIPTION);
        let read = WindowDescription::parse(&json).unwrap();
        assert_eq!((read.presence, read.left_out), (long.presence, Vec::new()));
    }
}
