//! The presets of this program.

/// Names and texts of the presets, by name.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("chirpstack", include_str!("../presets/chirpstack.toml")),
    ("dsmr-reader", include_str!("../presets/dsmr-reader.toml")),
    ("esphome", include_str!("../presets/esphome.toml")),
    ("home-assistant", include_str!("../presets/home-assistant.toml")),
    ("opentherm", include_str!("../presets/opentherm.toml")),
    ("p1", include_str!("../presets/p1.toml")),
    ("shelly", include_str!("../presets/shelly.toml")),
    ("tasmota", include_str!("../presets/tasmota.toml")),
    ("things-network", include_str!("../presets/things-network.toml")),
    ("wmbusmeters", include_str!("../presets/wmbusmeters.toml")),
    ("zigbee2mqtt", include_str!("../presets/zigbee2mqtt.toml")),
];
