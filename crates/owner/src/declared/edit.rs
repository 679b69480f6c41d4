//! Edits of `sotto.toml` that keep comments and order.

use sotto_pack::Formula;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::alarm::AlarmSettings;
use super::mail::MailSettings;
use super::settings::{ChannelSettings, Compare, KindName, QuestionSettings};
use crate::amount::Every;
use crate::error::OwnerError;

/// Pins a key of the cloud, before those already pinned.
pub fn pin_cloud(document: &mut DocumentMut, key: &str) {
    let pinned = document.get("cloud").and_then(|cloud| cloud.get("keys")).and_then(Item::as_array);
    let earlier = pinned.into_iter().flatten().filter_map(|value| value.as_str());
    let earlier: Vec<String> = earlier.filter(|earlier| *earlier != key).map(str::to_owned).collect();
    let keys: Array = [key.to_owned()].into_iter().chain(earlier).collect();
    document["cloud"]["keys"] = value(keys);
}

/// Adds `[channels.NAME]`.
///
/// # Errors
/// [`OwnerError::Declared`] if the channel already exists.
///
/// ```
/// use sotto_owner::edit::add_channel;
/// use sotto_owner::settings::ChannelSettings;
/// use toml_edit::DocumentMut;
///
/// let mut settings: DocumentMut = "version = 1 # by hand".parse()?;
/// let temperature = ChannelSettings::new("°C", "-20..120".parse()?, 0.1, "5m".parse()?);
/// add_channel(&mut settings, "temperature", &temperature)?;
/// let text = settings.to_string();
/// assert!(text.contains("# by hand") && text.contains("[channels.temperature]"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn add_channel(
    document: &mut DocumentMut,
    name: &str,
    channel: &ChannelSettings,
) -> Result<(), OwnerError> {
    let mut table = Table::new();
    if channel.kind != KindName::Gauge {
        table.insert("kind", value(channel.kind.word()));
    }
    if !channel.states.is_empty() {
        table.insert("states", value(channel.states.iter().map(String::as_str).collect::<Array>()));
    }
    if !channel.unit.is_empty() {
        table.insert("unit", value(channel.unit.as_str()));
    }
    if channel.kind != KindName::State {
        let ends: Array = [channel.range.minimum, channel.range.maximum].into_iter().map(number).collect();
        table.insert("range", value(ends));
        table.insert("resolution", value(number(channel.resolution)));
    }
    table.insert("every", value(channel.every.to_string()));
    if let Some(hold) = channel.hold {
        table.insert("hold", value(hold.to_string()));
    }
    if let Some(at_most) = channel.at_most {
        table.insert("at-most", value(number(at_most)));
    }
    if let Some(several) = channel.several {
        table.insert("several", value(several.word()));
    }
    if let Some(formula) = &channel.derived {
        table.insert("derived", value(formula.to_string()));
    }
    if channel.comparable {
        table.insert("comparable", value(true));
    }
    insert(document, "channels", name, Item::Table(table))
}

/// Changes the resolution of a channel, and the time between its readings.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no such channel.
pub fn change_channel(
    document: &mut DocumentMut,
    name: &str,
    resolution: f64,
    every: Every,
) -> Result<(), OwnerError> {
    let unknown = || OwnerError::NotDeclared { kind: "channel", name: name.to_owned() };
    let channels = document.get_mut("channels").and_then(Item::as_table_like_mut);
    let channel = channels.and_then(|channels| channels.get_mut(name)).and_then(Item::as_table_like_mut);
    let channel = channel.ok_or_else(unknown)?;
    // A state has none.
    if channel.contains_key("resolution") {
        channel.insert("resolution", value(number(resolution)));
    }
    channel.insert("every", value(every.to_string()));
    Ok(())
}

/// Adds a line to `[questions]`.
///
/// # Errors
/// [`OwnerError::Declared`] if the question already exists.
pub fn add_question(
    document: &mut DocumentMut,
    name: &str,
    question: &QuestionSettings,
) -> Result<(), OwnerError> {
    let QuestionSettings { text, precision, compare, scheme } = question;
    let mut table = toml_edit::InlineTable::new();
    table.insert("text", text.as_str().into());
    if let Some(precision) = precision {
        table.insert("precision", number(*precision));
    }
    if *compare == Compare::Cloud {
        table.insert("compare", "cloud".into());
    }
    if let Some(scheme) = scheme {
        table.insert("scheme", scheme.word().into());
    }
    let item = if table.len() == 1 { value(text.as_str()) } else { value(table) };
    insert(document, "questions", name, item)
}

/// Adds `[alarms.NAME]`.
///
/// # Errors
/// [`OwnerError::Declared`] if the alarm already exists.
pub fn add_alarm(document: &mut DocumentMut, name: &str, alarm: &AlarmSettings) -> Result<(), OwnerError> {
    let AlarmSettings { when, clear, clear_after, since, repeat, mute, exec, webhook, mqtt, mail, ca } =
        alarm;
    let mut table = Table::new();
    table.insert("when", value(when));
    if let Some(clear) = clear {
        table.insert("clear", value(number(*clear)));
    }
    if *clear_after != 1 {
        table.insert("clear_after", value(i64::from(*clear_after)));
    }
    let texts = [
        ("since", since),
        ("repeat", repeat),
        ("mute", mute),
        ("exec", exec),
        ("webhook", webhook),
        ("mqtt", mqtt),
        ("mail", mail),
        ("ca", ca),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            table.insert(key, value(text));
        }
    }
    insert(document, "alarms", name, Item::Table(table))
}

/// Writes `[mail]`, in place of the one that stands there.
pub fn set_mail(document: &mut DocumentMut, mail: &MailSettings) {
    let MailSettings { server, from, ca } = mail;
    let mut table = Table::new();
    table.insert("server", value(server));
    table.insert("from", value(from));
    if let Some(ca) = ca {
        table.insert("ca", value(ca));
    }
    document.insert("mail", Item::Table(table));
}

/// Removes an alarm.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no alarm with this name.
pub fn remove_alarm(document: &mut DocumentMut, name: &str) -> Result<(), OwnerError> {
    remove(document, "alarms", "alarm", name)
}

/// Adds `[devices.NAME]`.
///
/// # Errors
/// [`OwnerError::Declared`] if the device already exists.
pub fn add_device(document: &mut DocumentMut, name: &str, channels: &[String]) -> Result<(), OwnerError> {
    insert(document, "devices", name, Item::Table(device(channels)))
}

/// Adds a device whose bundles hold public keys in place of its secret.
///
/// # Errors
/// [`OwnerError::Declared`] if the device already exists.
pub fn add_public_device(
    document: &mut DocumentMut,
    name: &str,
    channels: &[String],
) -> Result<(), OwnerError> {
    let mut table = device(channels);
    table.insert("public", value(true));
    insert(document, "devices", name, Item::Table(table))
}

fn device(channels: &[String]) -> Table {
    let mut table = Table::new();
    table.insert("channels", value(channels.iter().collect::<Array>()));
    table
}

/// Removes a question, also from dashboards. A dashboard without another question is removed.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no question with this name.
pub fn remove_question(document: &mut DocumentMut, name: &str) -> Result<(), OwnerError> {
    remove(document, "questions", "question", name)?;
    let of = |dashboard: &Item| {
        let questions = dashboard.get("questions").and_then(Item::as_array);
        let names = questions.into_iter().flatten().filter_map(|question| question.as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let dashboards = document.get("dashboards").and_then(Item::as_table_like);
    let dashboards = dashboards.into_iter().flat_map(|dashboards| dashboards.iter());
    let dashboards = dashboards.map(|(dashboard, table)| (dashboard.to_owned(), of(table)));
    for (dashboard, mut questions) in dashboards.collect::<Vec<_>>() {
        let before = questions.len();
        questions.retain(|question| question != name);
        if questions.len() < before {
            set_dashboard(document, &dashboard, &questions)?;
        }
    }
    Ok(())
}

/// Gives a dashboard these questions in place of its present ones. Without any it is removed.
///
/// # Errors
/// [`OwnerError::Argument`] if `dashboards`, or this one, is no table.
///
/// ```
/// use sotto_owner::edit::set_dashboard;
/// use toml_edit::DocumentMut;
///
/// let mut settings: DocumentMut = "[dashboards.main]\nquestions = [\"daily\"] # by hand\n".parse()?;
/// set_dashboard(&mut settings, "main", &["peak".to_owned(), "daily".to_owned()])?;
/// let ordered = "[dashboards.main]\nquestions = [\"peak\", \"daily\"] # by hand\n";
/// assert_eq!(settings.to_string(), ordered);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn set_dashboard(document: &mut DocumentMut, name: &str, questions: &[String]) -> Result<(), OwnerError> {
    let no_table =
        |of: &str| OwnerError::Argument(format!("{of} in sotto.toml is no table; nothing was written"));
    if questions.is_empty() {
        if let Some(dashboards) = document.get_mut("dashboards").and_then(Item::as_table_like_mut) {
            dashboards.remove(name);
            if dashboards.is_empty() {
                document.remove("dashboards");
            }
        }
        return Ok(());
    }
    let dashboards = document.entry("dashboards").or_insert_with(|| {
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        Item::Table(implicit)
    });
    let dashboards = dashboards.as_table_like_mut().ok_or_else(|| no_table("dashboards"))?;
    let dashboard = dashboards.entry(name).or_insert_with(|| Item::Table(Table::new()));
    let dashboard = dashboard.as_table_like_mut().ok_or_else(|| no_table(&format!("dashboards.{name}")))?;
    set_list(dashboard, "questions", questions);
    Ok(())
}

/// Removes a channel.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no channel with this name.
pub fn remove_channel(document: &mut DocumentMut, name: &str) -> Result<(), OwnerError> {
    remove(document, "channels", "channel", name)
}

/// Removes a device.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no device with this name.
pub fn remove_device(document: &mut DocumentMut, name: &str) -> Result<(), OwnerError> {
    remove(document, "devices", "device", name)
}

/// Gives a channel another name; `wire` keeps the one in streams and bundles.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no channel `name`; [`OwnerError::Declared`] if there is one called `new`.
pub fn rename_channel(document: &mut DocumentMut, name: &str, new: &str) -> Result<(), OwnerError> {
    rename(document, "channels", "channel", name, new)?;
    let channels = document.get_mut("channels").and_then(Item::as_table_like_mut);
    for (_, channel) in channels.into_iter().flat_map(|channels| channels.iter_mut()) {
        let formula = channel.as_table_like_mut().and_then(|channel| channel.get_mut("derived"));
        let Some(formula) = formula.and_then(Item::as_value_mut) else { continue };
        let other = |part: &str| if part == name { new.to_owned() } else { part.to_owned() };
        // A text that is no formula stays as it is.
        replace_text(formula, |text| {
            text.parse::<Formula>()
                .map_or_else(|_| text.to_owned(), |formula| formula.renamed(other).to_string())
        });
    }
    let devices = document.get_mut("devices").and_then(Item::as_table_like_mut);
    for (_, device) in devices.into_iter().flat_map(|devices| devices.iter_mut()) {
        let channels = device.as_table_like_mut().and_then(|device| device.get_mut("channels"));
        for channel in channels.and_then(Item::as_array_mut).into_iter().flat_map(Array::iter_mut) {
            replace_text(channel, |text| if text == name { new.to_owned() } else { text.to_owned() });
        }
    }
    Ok(())
}

/// Gives a device another name; `wire` keeps the one in bundles, in the cloud and in the folder's files.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no device `name`; [`OwnerError::Declared`] if there is one called `new`.
pub fn rename_device(document: &mut DocumentMut, name: &str, new: &str) -> Result<(), OwnerError> {
    rename(document, "devices", "device", name, new)
}

/// Names a declared device as bundles, the cloud and the folder's files do.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no device with this name.
pub fn set_wire(document: &mut DocumentMut, name: &str, wire: &str) -> Result<(), OwnerError> {
    let devices = document.get_mut("devices").and_then(Item::as_table_like_mut);
    let device = devices.and_then(|devices| devices.get_mut(name)).and_then(Item::as_table_like_mut);
    let missing = || OwnerError::NotDeclared { kind: "device", name: name.to_owned() };
    device.ok_or_else(missing)?.insert("wire", value(wire));
    Ok(())
}

/// Returns the tags of a channel; none if it is not declared.
#[must_use]
pub fn channel_tags(document: &DocumentMut, name: &str) -> Vec<String> {
    tags_of(document, "channels", name)
}

/// Returns the tags of a device; none if it is not declared.
#[must_use]
pub fn device_tags(document: &DocumentMut, name: &str) -> Vec<String> {
    tags_of(document, "devices", name)
}

fn tags_of(document: &DocumentMut, table: &str, name: &str) -> Vec<String> {
    let entry = document.get(table).and_then(|entries| entries.get(name));
    let tags = entry.and_then(|entry| entry.get("tags")).and_then(Item::as_array);
    tags.into_iter().flatten().filter_map(|tag| tag.as_str()).map(str::to_owned).collect()
}

/// Gives a channel these tags in place of its present ones.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no channel with this name.
pub fn set_channel_tags(document: &mut DocumentMut, name: &str, tags: &[String]) -> Result<(), OwnerError> {
    set_tags(document, "channels", "channel", name, tags)
}

/// Gives a device these tags in place of its present ones.
///
/// # Errors
/// [`OwnerError::NotDeclared`] if there is no device with this name.
///
/// ```
/// use sotto_owner::edit::set_device_tags;
/// use toml_edit::DocumentMut;
///
/// let mut settings: DocumentMut = "[devices.boiler]\nchannels = [\"heat\"] # by hand\n".parse()?;
/// set_device_tags(&mut settings, "boiler", &["barn".to_owned()])?;
/// let tagged = "[devices.boiler]\nchannels = [\"heat\"] # by hand\ntags = [\"barn\"]\n";
/// assert_eq!(settings.to_string(), tagged);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn set_device_tags(document: &mut DocumentMut, name: &str, tags: &[String]) -> Result<(), OwnerError> {
    set_tags(document, "devices", "device", name, tags)
}

fn set_tags(
    document: &mut DocumentMut,
    table: &str,
    kind: &'static str,
    name: &str,
    tags: &[String],
) -> Result<(), OwnerError> {
    let entries = document.get_mut(table).and_then(Item::as_table_like_mut);
    let entry = entries.and_then(|entries| entries.get_mut(name)).and_then(Item::as_table_like_mut);
    let entry = entry.ok_or_else(|| OwnerError::NotDeclared { kind, name: name.to_owned() })?;
    if tags.is_empty() {
        entry.remove("tags");
        return Ok(());
    }
    set_list(entry, "tags", tags);
    Ok(())
}

/// Sets a list of texts, and leaves the space and the comments around it.
fn set_list(table: &mut dyn TableLike, key: &str, texts: &[String]) {
    let new: Array = texts.iter().map(String::as_str).collect();
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let around = old.decor().clone();
            *old = new.into();
            *old.decor_mut() = around;
        }
        None => drop(table.insert(key, value(new))),
    }
}

/// Replaces the text of every declared question and of every alarm's condition.
pub fn rewrite_questions(document: &mut DocumentMut, rewritten: impl Fn(&str) -> String) {
    for (table, key) in [("questions", "text"), ("alarms", "when")] {
        let entries = document.get_mut(table).and_then(Item::as_table_like_mut);
        for (_, entry) in entries.into_iter().flat_map(|entries| entries.iter_mut()) {
            let within = entry.is_table_like();
            let text =
                if within { entry.as_table_like_mut().and_then(|t| t.get_mut(key)) } else { Some(entry) };
            if let Some(text) = text.and_then(Item::as_value_mut) {
                replace_text(text, &rewritten);
            }
        }
    }
}

/// Replaces a text that changes, and leaves the space and the comments around it.
fn replace_text(of: &mut toml_edit::Value, replaced: impl Fn(&str) -> String) {
    let Some(text) = of.as_str() else { return };
    let new = replaced(text);
    if new != text {
        let around = of.decor().clone();
        *of = new.into();
        *of.decor_mut() = around;
    }
}

fn rename(
    document: &mut DocumentMut,
    table: &'static str,
    kind: &'static str,
    name: &str,
    new: &str,
) -> Result<(), OwnerError> {
    let missing = || OwnerError::NotDeclared { kind, name: name.to_owned() };
    let entries = document.get_mut(table).and_then(Item::as_table_like_mut).ok_or_else(missing)?;
    if entries.contains_key(new) {
        return Err(OwnerError::Declared { kind: table, name: new.to_owned() });
    }
    let mut entry = entries.remove(name).ok_or_else(missing)?;
    if let Some(fields) = entry.as_table_like_mut() {
        let wire = fields.get("wire").and_then(Item::as_str).unwrap_or(name).to_owned();
        if wire == new {
            fields.remove("wire");
        } else {
            fields.insert("wire", value(wire));
        }
    }
    entries.insert(new, entry);
    Ok(())
}

fn remove(document: &mut DocumentMut, table: &str, kind: &'static str, name: &str) -> Result<(), OwnerError> {
    let entries = document.get_mut(table).and_then(Item::as_table_like_mut);
    let removed = entries.and_then(|entries| entries.remove(name));
    removed.map(drop).ok_or_else(|| OwnerError::NotDeclared { kind, name: name.to_owned() })
}

fn insert(document: &mut DocumentMut, table: &'static str, name: &str, item: Item) -> Result<(), OwnerError> {
    let entry = document.entry(table).or_insert_with(|| {
        let mut implicit = Table::new();
        // An implicit table: `[channels]` itself is not written, only its subtables.
        implicit.set_implicit(item.is_table());
        Item::Table(implicit)
    });
    let Some(entries) = entry.as_table_like_mut() else {
        return Err(OwnerError::Declared { kind: table, name: name.to_owned() });
    };
    if entries.contains_key(name) {
        return Err(OwnerError::Declared { kind: table, name: name.to_owned() });
    }
    entries.insert(name, item);
    Ok(())
}

/// Formats whole numbers without a point, others in their shortest form.
fn number(of: f64) -> toml_edit::Value {
    if of.fract() == 0.0 && of.abs() < 1e15 { (of as i64).into() } else { of.into() }
}
