//! Opens the source that feeds the streams of a device.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use sotto_pack::{Channel, DeviceProfile, Period, StreamProfile};

use crate::arguments::{NotTogether, OfChannel, ReadArguments, SourceKind};
use crate::source::{
    self, Decimal, FileOptions, FileSource, FormatName, Generator, Sensors, Source, SourceError,
};
use crate::stop::Stop;

/// A source, its name, and the period at which the agent polls it.
pub struct Feed {
    /// Where rows come from.
    pub source: Box<dyn Source>,
    /// The kind of source: see [`Summary::source`](crate::summary::Summary::source).
    pub name: &'static str,
    /// True if the readings are synthetic: no sensor measured them.
    pub generated: bool,
    /// The time between rows if the agent polls; `None` if the source sets the pace.
    pub own_period: Option<Period>,
    /// The times of the first rows, if they can be read ahead.
    pub first_times: Vec<i64>,
}

/// Opens the source named by the arguments, with the channels of all streams. A channel that the source lacks is left out with
/// a warning: its streams are fed with the others. A column given with `--column` must exist; `--column CHANNEL=` says that
/// there is none. With `some`, a correction is made with the channels that are there.
///
/// # Errors
/// The source cannot be used, has no channel of the streams, or a column whose name is nearly that of the channel it lacks.
pub fn open(read: &ReadArguments, profile: &DeviceProfile, some: bool, stop: &Stop) -> Result<Feed> {
    let files = read.reads_files()?;
    let streams: Vec<&StreamProfile> = profile.streams.iter().collect();
    let period = |stream: &&StreamProfile| stream.period_ms.unwrap_or(profile.period_ms);
    let shortest = streams.iter().map(period).min().unwrap_or(profile.period_ms);
    let all = measured(&union(&streams), profile);
    let names: Vec<&str> = all.iter().map(|channel| channel.name.as_str()).collect();
    let is_none = |(channel, column): &(String, String)| column.is_empty() && names.contains(&&**channel);
    let (none, columns): (Vec<_>, Vec<_>) = read.columns(&names)?.into_iter().partition(is_none);
    let mut absent: Vec<String> = none.into_iter().map(|(channel, _)| channel).collect();
    let settings = Settings::of(read, &names)?;
    loop {
        let mut wanted = union(&streams);
        wanted.retain(|channel| !lacks_any(channel, &absent, profile));
        let channels = measured(&wanted, profile);
        if channels.is_empty() {
            bail!("every channel of the device is left out: give one a column");
        }
        let opened = if files {
            open_files(read, profile, &channels, (&columns, &settings), shortest, stop)
        } else {
            open_own(read, &channels, &columns, shortest, stop)
        };
        let error = match opened {
            Ok(feed) => {
                warn_of_unfed(&streams, &wanted);
                return ahead(with_derived(feed, &wanted, profile));
            }
            Err(error) => error,
        };
        let lacking = lacking(&error);
        // A column named with --column must exist, and standard input cannot be read twice.
        let asked = lacking.iter().any(|name| columns.iter().any(|(_, column)| column == name));
        let are_channels = lacking.iter().all(|name| channels.iter().any(|channel| channel.name == *name));
        let remains = |stream: &&StreamProfile| {
            stream.channels.iter().all(|channel| !lacks_any(channel, &lacking, profile))
        };
        // A column whose name is nearly the channel's may be it.
        let is_near = matches!(error, SourceError::NoColumn { nearest: Some(_), .. });
        let others = channels.iter().any(|channel| !lacking.contains(&channel.name));
        let goes_on = if files { some || !is_near } else { streams.iter().any(remains) };
        if asked || read.stdin || lacking.is_empty() || !are_channels || !others || !goes_on {
            return Err(way_out(&lacking, &all, files, error));
        }
        let list = lacking.join(", ");
        match some {
            true => tracing::warn!("not corrected: {list}"),
            false => tracing::warn!(
                "{error}: sent without {list}; a column of another name is given with --column {}=NAME",
                lacking[0]
            ),
        }
        absent.extend(lacking);
    }
}

/// Prepares a source whose rows are pushed: adds channels that are computed from others, and leaves out rows of a clock that
/// was not set.
///
/// # Errors
/// The source cannot be used.
#[cfg(feature = "gateway")]
pub(crate) fn pushed(source: Box<dyn Source>, profile: &DeviceProfile) -> Result<Feed> {
    let wanted = union(&profile.streams.iter().collect::<Vec<_>>());
    let (name, first_times) = ("gateway", Vec::new());
    let feed = Feed { source, name, generated: false, own_period: None, first_times };
    ahead(with_derived(feed, &wanted, profile))
}

/// Returns the channels that senders can give readings of: those of the streams that are measured, and the parts of the
/// others.
#[cfg(feature = "gateway")]
pub(crate) fn measured_channels(profile: &DeviceProfile) -> Vec<Channel> {
    measured(&union(&profile.streams.iter().collect::<Vec<_>>()), profile)
}

/// Warns of the streams of which the source has no channel.
fn warn_of_unfed(streams: &[&StreamProfile], wanted: &[Channel]) {
    let is_fed = |stream: &&&StreamProfile| {
        stream.channels.iter().any(|channel| wanted.iter().any(|one| one.name == channel.name))
    };
    for stream in streams.iter().filter(|stream| !is_fed(stream)) {
        tracing::warn!("stream {} is not fed: the source has none of its channels", stream.stream);
    }
}

/// Reads the first rows ahead, and leaves out those of a clock that was not set, or was ahead.
fn ahead(feed: Feed) -> Result<Feed> {
    let mut source = feed.source;
    let first_times = source::first_times(&mut *source)?;
    let source = source::on_time(source::with_clock_set(source, &first_times));
    Ok(Feed { source, first_times, ..feed })
}

/// Adds to a source's error the options that name the column of a channel, or say that there is none.
fn way_out(lacking: &[String], channels: &[Channel], files: bool, error: SourceError) -> anyhow::Error {
    match lacking.iter().find(|name| channels.iter().any(|channel| channel.name == **name)) {
        Some(channel) => {
            let none = match files && channels.len() > 1 {
                true => format!("; if there is none, --column {channel}= leaves it out"),
                false => String::new(),
            };
            anyhow!(
                "{error}; if channel {channel} has another name there, pass --column {channel}=NAME{none}"
            )
        }
        None => error.into(),
    }
}

/// Returns the union of the streams' channels. Channels with the same name are one channel of the source.
fn union(streams: &[&StreamProfile]) -> Vec<Channel> {
    let mut names = BTreeSet::new();
    let channels = streams.iter().flat_map(|stream| &stream.channels);
    channels.filter(|channel| names.insert(channel.name.as_str())).cloned().collect()
}

/// Returns the channels that the source has to have: those of streams that are measured, and the parts of the others.
fn measured(wanted: &[Channel], profile: &DeviceProfile) -> Vec<Channel> {
    let of = |name: &str| profile.derived.iter().find(|derived| derived.channel == name);
    let mut channels: Vec<Channel> =
        wanted.iter().filter(|channel| of(&channel.name).is_none()).cloned().collect();
    for part in wanted.iter().filter_map(|channel| of(&channel.name)).flat_map(|derived| &derived.of) {
        if channels.iter().all(|channel| channel.name != part.name) {
            channels.push(part.clone());
        }
    }
    channels
}

/// Returns true if a channel, or one that it is computed from, is among `names`.
fn lacks_any(channel: &Channel, names: &[String], profile: &DeviceProfile) -> bool {
    let derived = profile.derived.iter().find(|derived| derived.channel == channel.name);
    let parts = derived.into_iter().flat_map(|derived| &derived.of);
    parts.map(|part| &part.name).chain([&channel.name]).any(|name| names.contains(name))
}

/// Adds the channels that are computed from others.
fn with_derived(feed: Feed, wanted: &[Channel], profile: &DeviceProfile) -> Feed {
    let source = source::with_derived(feed.source, wanted, &profile.derived, |name| profile.period_of(name));
    Feed { source, ..feed }
}

/// Returns the names that the source lacks.
fn lacking(error: &SourceError) -> Vec<String> {
    match error {
        SourceError::NoColumn { column, .. } => vec![column.clone()],
        SourceError::UnknownChannels { names, .. } => names.clone(),
        _ => Vec::new(),
    }
}

fn open_files(
    read: &ReadArguments,
    profile: &DeviceProfile,
    channels: &[Channel],
    (columns, settings): (&[(String, String)], &Settings),
    period: Period,
    stop: &Stop,
) -> Result<Feed, SourceError> {
    let zone_error = |error: sotto_pack::ProfileError| SourceError::Option {
        option: "--bundle",
        reason: error.to_string(),
    };
    let Files { paths, format, name } = Files::of(read);
    let options = FileOptions {
        paths,
        format,
        time: read.time.clone(),
        time_format: read.time_format.clone(),
        start: read.start.clone(),
        columns: columns.to_vec(),
        conditions: read.conditions.iter().map(|pair| (pair.name.clone(), pair.value.clone())).collect(),
        delimiter: read.delimiter,
        decimal: settings.decimal,
        encoding: read.encoding,
        header_line: read.header_line,
        skip_lines: read.skip_lines,
        table: read.table.clone(),
        missing: settings.missing.clone(),
        scale: settings.scale.clone(),
        offset: settings.offset.clone(),
        from_unit: settings.from_unit.clone(),
        follow: read.follow,
        may_lack: read.csv.len() + read.json_lines.len() + read.file.len() > 1,
        header: !read.no_header,
        zone: read.zone.clone().map_or_else(|| profile.clock(), Ok).map_err(zone_error)?,
        period,
    };
    let source = Box::new(FileSource::open(options, channels, stop.clone())?);
    for (path, names) in source.lacking() {
        tracing::warn!(
            "{} gives no reading of {}: another file has the column",
            path.display(),
            names.join(", ")
        );
    }
    Ok(Feed { source, name, generated: false, own_period: None, first_times: Vec::new() })
}

/// A value of one channel, or of all.
type Setting<T> = (Option<String>, T);

/// How numbers are read.
struct Settings {
    decimal: Option<Decimal>,
    missing: Vec<Setting<String>>,
    scale: Vec<Setting<f64>>,
    offset: Vec<Setting<f64>>,
    from_unit: Vec<Setting<String>>,
}

impl Settings {
    fn of(read: &ReadArguments, channels: &[&str]) -> Result<Self, NotTogether> {
        let number = |option: &'static str, given: &[OfChannel]| {
            let number = |(channel, text): Setting<String>| match text.trim().parse::<f64>() {
                Ok(number) => Ok((channel, number)),
                Err(_) => Err(NotTogether::NoNumber { option, value: text }),
            };
            of_channels(option, given, channels)?.into_iter().map(number).collect::<Result<Vec<_>, _>>()
        };
        let missing = read.missing.iter().map(|given| owned(given.of(channels))).collect();
        Ok(Self {
            decimal: read.decimal()?,
            missing,
            scale: number("--scale", &read.scale)?,
            offset: number("--offset", &read.offset)?,
            from_unit: of_channels("--from-unit", &read.from_unit, channels)?,
        })
    }
}

fn owned((channel, value): (Option<&str>, &str)) -> Setting<String> {
    (channel.map(str::to_owned), value.to_owned())
}

/// Returns values with their channels. A value without a channel is the only channel's.
fn of_channels(
    option: &'static str,
    given: &[OfChannel],
    channels: &[&str],
) -> Result<Vec<Setting<String>>, NotTogether> {
    let setting = |given: &OfChannel| match owned(given.of(channels)) {
        (None, value) if channels.len() > 1 => {
            Err(NotTogether::NoChannelOf { option, value, channels: channels.join(", ") })
        }
        setting => Ok(setting),
    };
    given.iter().map(setting).collect()
}

/// The files that arguments name.
struct Files {
    paths: Vec<PathBuf>,
    /// Their format, if all have one that is named.
    format: Option<FormatName>,
    /// The kind of source: the format, `stdin`, or `files`.
    name: &'static str,
}

impl Files {
    fn of(read: &ReadArguments) -> Self {
        let kinds = [
            (&read.csv, Some(FormatName::CSV)),
            (&read.json_lines, Some(FormatName::JSON_LINES)),
            (&read.file, read.format),
        ];
        let mut given = kinds.iter().filter(|(paths, _)| !paths.is_empty());
        let first = given.next();
        let of_one_kind = first.filter(|_| given.next().is_none() && !read.stdin);
        let format = read.format.or(of_one_kind.and_then(|(_, format)| *format));
        let name = match format {
            _ if first.is_none() => "stdin",
            Some(format) => format.as_str(),
            None => "files",
        };
        let stdin = read.stdin.then(|| PathBuf::from("-"));
        let paths = kinds.iter().flat_map(|(paths, _)| paths.iter().cloned()).chain(stdin).collect();
        Self { paths, format, name }
    }
}

/// Opens the sensors of this machine or the generator, which the agent polls at the shortest period of the streams.
fn open_own(
    read: &ReadArguments,
    channels: &[Channel],
    columns: &[(String, String)],
    period: Period,
    stop: &Stop,
) -> Result<Feed, SourceError> {
    let generated = read.source == Some(SourceKind::Generate);
    let (all, name): (Box<dyn Source>, _) = if generated {
        (Box::new(Generator::new(read.seed, period)), "generator")
    } else {
        (Box::new(Sensors::open(period, stop.clone())?), "sensors")
    };
    let source = source::select(all, channels, columns)?;
    Ok(Feed { source, name, generated, own_period: Some(period), first_times: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a correction would look for the same part again and again.
    #[test]
    fn a_derived_channel_lacks_the_part_that_a_source_lacks() {
        let channel = |name: &str| Channel { name: name.to_owned(), maximum: 1.0, ..Channel::default() };
        let formula = "inlet - outlet".parse().expect("a formula");
        let of = vec![channel("inlet"), channel("outlet")];
        let profile = DeviceProfile {
            device: "boiler".to_owned(),
            period_ms: Period::from_milliseconds(1000),
            zone: None,
            cloud_keys: Vec::new(),
            owner_key: None,
            streams: Vec::new(),
            derived: vec![sotto_pack::Derived { channel: "delta".to_owned(), formula, of }],
            record: None,
        };
        let absent = ["inlet".to_owned()];
        let lacks = ["inlet", "outlet", "delta"].map(|name| lacks_any(&channel(name), &absent, &profile));
        assert_eq!(lacks, [true, false, true]);
        let measured: Vec<String> =
            measured(&[channel("delta")], &profile).into_iter().map(|channel| channel.name).collect();
        assert_eq!(measured, ["inlet", "outlet"]);
    }

    #[test]
    fn the_kind_of_source_is_the_format_of_all_files() {
        let one = || vec![PathBuf::from("f")];
        let read = ReadArguments::default;
        let named = |read: ReadArguments| {
            let Files { paths, format, name } = Files::of(&read);
            (paths.len(), format, name)
        };
        let (csv, lines) = (Some(FormatName::CSV), Some(FormatName::JSON_LINES));
        for (read, expected) in [
            (ReadArguments { csv: one(), ..read() }, (1, csv, "csv")),
            (ReadArguments { json_lines: one(), ..read() }, (1, lines, "json-lines")),
            (ReadArguments { csv: one(), json_lines: one(), ..read() }, (2, None, "files")),
            (ReadArguments { csv: one(), stdin: true, ..read() }, (2, None, "files")),
            (ReadArguments { stdin: true, ..read() }, (1, None, "stdin")),
            (ReadArguments { stdin: true, format: lines, ..read() }, (1, lines, "stdin")),
            (ReadArguments { file: one(), ..read() }, (1, None, "files")),
            (ReadArguments { file: one(), format: lines, ..read() }, (1, lines, "json-lines")),
            (ReadArguments { file: one(), stdin: true, format: csv, ..read() }, (2, csv, "csv")),
        ] {
            assert_eq!(named(read), expected);
        }
    }
}
