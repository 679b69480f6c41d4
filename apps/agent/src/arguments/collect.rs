//! The arguments of the readings that a gateway fetches itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sotto_mqtt::Broker;

use super::values::duration;

/// Options of `check` that name the source of readings, one at least.
pub(super) const OF_CHECK: [&str; 8] = ["bundle", "devices", "mqtt", "p1", "modbus", "iio", "hwmon", "exec"];

/// Brokers, meters, registers, sensors and commands of a gateway.
#[derive(Args, Clone, Debug, Default)]
pub struct CollectArguments {
    /// Take the messages of this broker: mqtt://broker.local or mqtts://broker.example. User and password are those of
    /// SOTTO_MQTT_USER and SOTTO_MQTT_PASSWORD
    #[arg(long, value_name = "URL", conflicts_with = "bundle")]
    pub mqtt: Option<Broker>,
    /// How messages are read: zigbee2mqtt, tasmota, home-assistant and others, or a file such as ./mine.toml
    #[arg(long, value_name = "NAME", requires = "mqtt", conflicts_with = "topic")]
    pub preset: Option<String>,
    /// The beginning of topics in the place of the preset's usual one
    #[arg(long, value_name = "TOPIC", requires = "preset")]
    pub base: Option<String>,
    /// The topics without a preset, such as home/{device}/{channel}
    #[arg(long, value_name = "PATTERN", requires = "mqtt")]
    pub topic: Option<String>,
    /// The path to a value in JSON, such as temperature=$.values.t; may be repeated [default: every field is a channel]
    #[arg(long, value_name = "[CHANNEL=]PATH", requires = "topic")]
    pub value: Vec<String>,
    /// The path to the time in JSON, such as $.time [default: the time of arrival]
    #[arg(long, value_name = "PATH", requires = "topic")]
    pub time_path: Option<String>,
    /// The version of MQTT
    #[arg(long, value_enum, default_value_t = MqttVersion::V3)]
    pub mqtt_version: MqttVersion,
    /// The user of the broker [default: SOTTO_MQTT_USER]
    #[arg(long, value_name = "NAME", requires = "mqtt")]
    pub mqtt_user: Option<String>,
    /// File with the password of the user [default: SOTTO_MQTT_PASSWORD]
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    pub mqtt_password_file: Option<PathBuf>,
    /// PEM file with the authority that signs the broker's certificate [default: Mozilla's list]
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    pub mqtt_ca: Option<PathBuf>,
    /// Show the password to the network: mqtt:// to another machine has no TLS
    #[arg(long, requires = "mqtt")]
    pub mqtt_plain_password: bool,
    /// Read a smart meter's P1 port: tcp://host:23 or /dev/ttyUSB0, @9600 of meters before DSMR 4; may be repeated
    #[arg(long, value_name = "[DEVICE=]PORT", conflicts_with = "bundle")]
    pub p1: Vec<String>,
    /// Read registers by Modbus-TCP, which a TOML file names; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "bundle")]
    pub modbus: Vec<PathBuf>,
    /// Read this machine's industrial I/O as readings of a device
    #[arg(long, value_name = "DEVICE", conflicts_with = "bundle")]
    pub iio: Option<String>,
    /// Read this machine's hardware monitors as readings of a device
    #[arg(long, value_name = "DEVICE", conflicts_with = "bundle")]
    pub hwmon: Option<String>,
    /// The folder in the place of /sys
    #[arg(long, value_name = "DIR", default_value = "/sys", hide = true)]
    pub sys: PathBuf,
    /// Run a command whose output is a number, JSON or line protocol; may be repeated
    #[arg(long, value_name = "[DEVICE=]COMMAND", conflicts_with = "bundle")]
    pub exec: Vec<String>,
    /// The time between two readings of --exec, --iio and --hwmon
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub every: u32,
    /// The time after which a command of --exec is ended
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub exec_limit: u32,
}

/// Versions of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MqttVersion {
    /// 3.1.1, which every broker knows.
    #[default]
    #[value(name = "3.1.1")]
    V3,
    /// 5.
    #[value(name = "5")]
    V5,
}

impl CollectArguments {
    /// Returns true if something is named.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.mqtt.is_some()
            || !self.p1.is_empty()
            || !self.modbus.is_empty()
            || self.iio.is_some()
            || self.hwmon.is_some()
            || !self.exec.is_empty()
    }
}
