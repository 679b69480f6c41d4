//! The file that names a device's registers. Unknown keys are errors.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use sotto_preset::Kind;

/// Maximum length of the file, in bytes, and number of registers.
const LONGEST: u64 = 256 << 10;
const MOST: usize = 2000;
/// The port of Modbus-TCP.
const PORT: u16 = 502;

/// A device and its registers.
///
/// ```
/// use sotto_agent::gateway::ModbusFile;
///
/// let text = "device = 'inverter'\nhost = '192.168.1.30'\nevery = '10s'\n\
///     [[register]]\nchannel = 'power'\naddress = 40083\ntype = 'i16'\nscale = 0.1\nunit = 'W'";
/// assert_eq!(ModbusFile::parse(text)?.host, "192.168.1.30:502");
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModbusFile {
    /// The device of the readings.
    pub device: String,
    /// Name and port.
    pub host: String,
    /// The number of the unit behind the address.
    pub unit: u8,
    /// The time between two readings, at multiples of it by the clock.
    pub every: Duration,
    /// The time limit of each answer.
    pub limit: Duration,
    /// Maximum number of registers that nobody asked for between two that are read at once.
    pub(super) gap: u16,
    pub(super) registers: Vec<Register>,
}

/// A register, or some in a row that are one number.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) channel: String,
    pub(super) table: Table,
    pub(super) address: u16,
    pub(super) kind_of_number: Type,
    pub(super) words: Order,
    pub(super) bytes: Order,
    pub(super) scale: f64,
    pub(super) offset: f64,
    pub(super) unit: Option<String>,
    pub(super) kind: Option<Kind>,
    /// Numbers, before the scale, that stand for no reading.
    pub(super) missing: Vec<i64>,
}

/// The four tables of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Table {
    #[default]
    Holding,
    Input,
    Coil,
    Discrete,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Type {
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Type {
    /// Returns the number of registers.
    pub(super) fn words(self) -> u16 {
        match self {
            Self::U16 | Self::I16 => 1,
            Self::U32 | Self::I32 | Self::F32 => 2,
            Self::U64 | Self::I64 | Self::F64 => 4,
        }
    }
}

/// An order of words or bytes; big means that the first one counts most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    #[default]
    Big,
    Little,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    device: String,
    host: String,
    #[serde(default = "first_unit")]
    unit: u8,
    every: String,
    limit: Option<String>,
    #[serde(default)]
    gap: u16,
    /// Of all registers that do not say otherwise.
    #[serde(default)]
    words: Order,
    #[serde(default)]
    bytes: Order,
    #[serde(rename = "register")]
    registers: Vec<UncheckedRegister>,
}

fn first_unit() -> u8 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedRegister {
    channel: String,
    #[serde(default)]
    table: Table,
    address: u16,
    #[serde(rename = "type")]
    kind_of_number: Option<Type>,
    words: Option<Order>,
    bytes: Option<Order>,
    scale: Option<f64>,
    offset: Option<f64>,
    unit: Option<String>,
    kind: Option<Kind>,
    #[serde(default)]
    missing: Vec<i64>,
}

impl ModbusFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or says nothing that can be used; the reason names the register.
    pub fn read(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let length = file.take(LONGEST + 1).read_to_string(&mut text);
        if length.with_context(|| format!("{} cannot be read", path.display()))? as u64 > LONGEST {
            bail!("{} is longer than {LONGEST} bytes", path.display());
        }
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Those of [`ModbusFile::read`].
    pub fn parse(text: &str) -> Result<Self> {
        let file: Unchecked = toml::from_str(text)?;
        if file.registers.is_empty() || file.registers.len() > MOST {
            bail!("it has to have 1 to {MOST} [[register]]");
        }
        let (every, limit) =
            (duration(&file.every)?, file.limit.as_deref().map_or(Ok(Duration::from_secs(2)), duration)?);
        if limit.is_zero() || every.is_zero() || limit >= every {
            bail!("limit has to be shorter than every, and both longer than 0");
        }
        let has_port = file.host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let is_v6 = file.host.matches(':').count() > 1 && !file.host.contains(']');
        let host = match (has_port, is_v6) {
            (_, true) => format!("[{}]:{PORT}", file.host),
            (true, false) => file.host,
            (false, false) => format!("{}:{PORT}", file.host),
        };
        let register = |register: UncheckedRegister| {
            let of = register.channel.clone();
            register.checked(file.words, file.bytes).with_context(|| format!("register {of}"))
        };
        let registers = file.registers.into_iter().map(register).collect::<Result<Vec<_>>>()?;
        for (index, register) in registers.iter().enumerate() {
            if registers[..index].iter().any(|other| other.channel == register.channel) {
                bail!("two registers have the channel {}", register.channel);
            }
        }
        Ok(Self { device: file.device, host, unit: file.unit, every, limit, gap: file.gap, registers })
    }
}

impl UncheckedRegister {
    fn checked(self, words: Order, bytes: Order) -> Result<Register> {
        let is_bit = matches!(self.table, Table::Coil | Table::Discrete);
        let kind_of_number = match (self.kind_of_number, is_bit) {
            (Some(_), true) => bail!("a coil has no type: leave it out"),
            (None, true) => Type::U16,
            (Some(kind), false) => kind,
            (None, false) => bail!("give its type: u16, i16, u32, i32, u64, i64, f32 or f64"),
        };
        let (scale, offset) = (self.scale.unwrap_or(1.0), self.offset.unwrap_or(0.0));
        if !scale.is_finite() || scale == 0.0 || !offset.is_finite() {
            bail!("scale and offset are numbers, and scale is not 0");
        }
        if u32::from(self.address) + u32::from(kind_of_number.words()) > 0x1_0000 {
            bail!("it ends behind the last address, 65535");
        }
        let channel = sotto_preset::channel_name([self.channel.as_str()]);
        if channel != self.channel {
            bail!("a channel has small letters, digits and _: write {channel}");
        }
        Ok(Register {
            channel,
            table: self.table,
            address: self.address,
            kind_of_number,
            words: self.words.unwrap_or(words),
            bytes: self.bytes.unwrap_or(bytes),
            scale,
            offset,
            unit: self.unit,
            kind: self.kind.or(is_bit.then_some(Kind::State)),
            missing: self.missing,
        })
    }
}

fn duration(text: &str) -> Result<Duration> {
    let span: jiff::Span = text.parse().with_context(|| format!("{text}: write a time such as 10s"))?;
    let time = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours())?;
    Duration::try_from(time).with_context(|| format!("{text}: write a time such as 10s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "device = 'x'\nhost = 'h'\nevery = '10s'\n";

    #[test]
    fn files_are_read_whole_or_refused() {
        for (host, expected) in [
            ("h", "h:502"),
            ("h:1502", "h:1502"),
            ("10.0.0.1", "10.0.0.1:502"),
            ("::1", "[::1]:502"),
            ("[::1]:9", "[::1]:9"),
        ] {
            let text = format!(
                "device = 'x'\nhost = '{host}'\nevery = '1m'\n[[register]]\nchannel = 'a'\naddress = 0\ntype = 'u16'"
            );
            assert_eq!(ModbusFile::parse(&text).unwrap().host, expected);
        }
        for (rest, says) in [
            ("", "register"),
            ("colour = 1", "colour"),
            ("[[register]]\nchannel = 'a'\naddress = 0", "type"),
            ("[[register]]\nchannel = 'a'\naddress = 0\ntable = 'coil'\ntype = 'u16'", "coil"),
            ("[[register]]\nchannel = 'a'\naddress = 65535\ntype = 'u32'", "65535"),
            ("[[register]]\nchannel = 'a b'\naddress = 0\ntype = 'u16'", "a_b"),
            ("[[register]]\nchannel = 'a'\naddress = 0\ntype = 'u16'\nscale = 0", "scale"),
            ("limit = '10s'\n[[register]]\nchannel = 'a'\naddress = 0\ntype = 'u16'", "shorter"),
            (
                "[[register]]\nchannel = 'a'\naddress = 0\ntype = 'u16'\n[[register]]\nchannel = 'a'\naddress = 1\ntype = 'u16'",
                "two registers",
            ),
        ] {
            let why = format!("{:#}", ModbusFile::parse(&format!("{HEAD}{rest}")).unwrap_err());
            assert!(why.contains(says), "{why}");
        }
    }
}
