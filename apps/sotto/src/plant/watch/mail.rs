//! E-mail as a sink of events: a message to each person of the alarm, by the plant's server.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use lettre::Message;
use lettre::address::Envelope;
use lettre::message::Mailbox;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{Certificate, CertificateStore, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Mail, Rset};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Category, Severity};
use sotto_http::Trust;
use sotto_owner::alarm::{Event, MailServer, MailSettings, MailTls};
use sotto_owner::question::{AlarmCondition, Measured};

/// Takes note of an address of e-mail that has taken an event, or refuses it for good, with the reason.
pub(crate) type Note<'n> = dyn Fn(&str, Option<&str>) -> Result<(), String> + 'n;

/// The addresses of an alarm, and those of them that need no further attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct To<'t> {
    pub(super) all: &'t [&'t str],
    pub(super) reached: &'t [String],
}

/// RFC 3834, section 5: no vacation answers, please.
#[derive(Clone)]
pub(crate) struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Sends an event to each address in a transaction of its own: one that is refused stops no other. The message's id is made
/// from the event's: a mailbox shows a second copy as the same.
///
/// # Errors
/// The reason, if the server is away, refuses for now, or does not answer a command within `limit`.
pub(super) fn send(
    settings: &MailSettings,
    trust: &Trust,
    to: To<'_>,
    event: &Event,
    limit: Duration,
    note: &Note<'_>,
) -> Result<(), String> {
    let message = message(&settings.from, to.all, event)?;
    let left: Vec<&str> =
        to.all.iter().copied().filter(|one| !to.reached.iter().any(|reached| reached == one)).collect();
    send_message(settings, trust, &left, &message, limit, note)
}

/// Sends a message to each address in a transaction of its own.
///
/// # Errors
/// Those of [`send`].
pub(crate) fn send_message(
    settings: &MailSettings,
    trust: &Trust,
    to: &[&str],
    message: &Message,
    limit: Duration,
    note: &Note<'_>,
) -> Result<(), String> {
    let server: MailServer = settings.server.parse().map_err(|error| format!("{error}"))?;
    let said = |error: &SmtpError| format!("{}:{}: {}", server.host, server.port, in_words(error, limit));
    let (mut connection, mut failed) = (None, None);
    for address in to {
        let mut open = match connection.take() {
            Some(open) => open,
            None => connect(&server, trust, message, limit)?.map_err(|error| said(&error))?,
        };
        let from = message.envelope().from().cloned();
        let envelope =
            Envelope::new(from, vec![mailbox(address)?.email]).map_err(|error| error.to_string())?;
        match open.send(&envelope, &message.formatted()) {
            Ok(_) => note(address, None)?,
            Err(error) if is_final(&error) => note(address, Some(&said(&error)))?,
            Err(error) if error.is_transient() || error.is_permanent() || error.is_client() => {
                failed.get_or_insert_with(|| format!("{address}: {}", said(&error)));
            }
            Err(error) => return Err(said(&error)),
        }
        // After an error the connection is closed.
        connection = (!open.has_broken()).then_some(open);
    }
    if let Some(mut open) = connection {
        let _ = open.quit();
    }
    failed.map_or(Ok(()), Err)
}

/// Opens a connection, logs in, and asks whether the server takes messages of this sender: a refusal after that is one of the
/// address. The outer error is one of the settings.
fn connect(
    server: &MailServer,
    trust: &Trust,
    message: &Message,
    limit: Duration,
) -> Result<Result<SmtpConnection, SmtpError>, String> {
    let tls = match server.tls {
        MailTls::None => None,
        MailTls::StartTls | MailTls::FromTheStart => Some(parameters(server, trust)?),
    };
    let name = ClientId::default();
    let open = || {
        let at = (server.host.as_str(), server.port);
        let wrapper = tls.as_ref().filter(|_| server.tls == MailTls::FromTheStart);
        let mut open = SmtpConnection::connect(at, Some(limit), &name, wrapper, None)?;
        if let (MailTls::StartTls, Some(tls)) = (server.tls, &tls) {
            open.starttls(tls, &name)?;
        }
        if let (Some(user), Some(password)) = (&server.user, &server.password) {
            open.auth(DEFAULT_MECHANISMS, &Credentials::new(user.clone(), password.clone()))?;
        }
        // An address with other letters needs an extension, which the transaction looks for.
        if let Some(from) = message.envelope().from().filter(|from| from.to_string().is_ascii()) {
            open.command(Mail::new(Some(from.clone()), Vec::new()))?;
            open.command(Rset)?;
        }
        Ok(open)
    };
    Ok(open())
}

/// Returns true if an address refuses a message for good: 550 to 559, of the mailbox (RFC 5321, section 4.2.3). Another refusal
/// is one of the login or of the sender, which the owner can mend.
fn is_final(error: &SmtpError) -> bool {
    let code = error.status();
    code.is_some_and(|code| {
        code.severity == Severity::PermanentNegativeCompletion && code.category == Category::MailSystem
    })
}

/// Reads an address as the sender of messages does.
///
/// # Errors
/// The reason.
pub(crate) fn mailbox(text: &str) -> Result<Mailbox, String> {
    text.parse().map_err(|error| format!("{text:?} is no address of a person: {error}"))
}

fn message(from: &str, to: &[&str], event: &Event) -> Result<Message, String> {
    let mut builder = Message::builder()
        .from(mailbox(from)?)
        .subject(event.text())
        .message_id(Some(id(event, from)))
        .header(AutoSubmitted);
    for one in to {
        builder = builder.to(mailbox(one)?);
    }
    builder.body(body(event)).map_err(|error| error.to_string())
}

/// Returns the message's id: letters, digits and a few marks (RFC 5322, section 3.6.4).
fn id(event: &Event, from: &str) -> String {
    let mut text = String::from("<");
    for byte in event.id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => text.push(char::from(byte)),
            other => text.push_str(&format!("_{other:02x}")),
        }
    }
    let host = from.rsplit_once('@').map_or("localhost", |(_, host)| host);
    format!("{text}@{host}>")
}

fn body(event: &Event) -> String {
    let unit = if event.unit.is_empty() { String::new() } else { format!(" {}", event.unit) };
    let mut lines = vec![event.text(), String::new(), format!("condition: {}", event.when)];
    if let Some(value) = event.value {
        let bound = event.bound.filter(|bound| *bound > 0.0).map(|bound| format!(" ± {bound}"));
        lines.push(match counts_readings(event) {
            // A bare number of readings would look like the value of the condition.
            true => format!("value: {}", event.what),
            false => format!("value: {value}{}{unit}", bound.unwrap_or_default()),
        });
    }
    lines.push(format!("from {} to {}, {} readings", event.from, event.to, event.readings));
    lines.push(format!("evaluated at {}", event.at));
    lines.push(format!("event {}", event.id));
    lines.push(format!("`sotto alarm show {}` tells how it stands.", event.alarm));
    lines.join("\n") + "\n"
}

/// Returns true if the event's value is a number of readings that its condition does not name.
fn counts_readings(event: &Event) -> bool {
    let Ok(AlarmCondition::Limit(alarm)) = AlarmCondition::parse(&event.when) else { return false };
    let counted = alarm.probe(alarm.limit).expression;
    !matches!(&alarm.measured, Measured::Value(measured) if *measured == counted)
}

fn parameters(server: &MailServer, trust: &Trust) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(server.host.clone());
    builder = match trust.authorities() {
        None => builder.certificate_store(CertificateStore::WebpkiRoots),
        Some(authorities) => {
            builder = builder.certificate_store(CertificateStore::None);
            for der in authorities {
                let authority = Certificate::from_der(der.clone()).map_err(|error| error.to_string())?;
                builder = builder.add_root_certificate(authority);
            }
            builder
        }
    };
    builder.build_rustls().map_err(|error| error.to_string())
}

/// Returns an error with its causes, and with a remedy if TLS is the cause. `limit` is the time for an answer.
fn in_words(error: &dyn Error, limit: Duration) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let io = inner.downcast_ref::<std::io::Error>();
        // The system says that a resource is temporarily unavailable.
        if io.is_some_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)) {
            return format!("did not answer within {} s", limit.as_secs_f64());
        }
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        let tls = io.and_then(|error| error.get_ref());
        match tls.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(_)) => {
                text += "; a private authority is named with `sotto alarm mail … --ca FILE`";
            }
            Some(rustls::Error::InvalidMessage(_)) => {
                text += "; it does not begin in TLS: write smtp:// for a server with STARTTLS";
            }
            _ => {}
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::event;
    use super::*;

    #[test]
    fn a_message_has_one_subject_line_and_the_same_id_at_every_attempt() {
        let mut event = event();
        event.what = "12 of 60 readings > 80 °C\r\nBcc: eve@h".to_owned();
        event.alarm = "heiß".to_owned();
        event.id = "heiß.boiler".to_owned();
        let message =
            message("barn@farm.example", &["ann@farm.example", "bo@h.example"], &event).expect("a message");
        let text = String::from_utf8(message.formatted()).expect("text");
        let (head, _) = text.split_once("\r\n\r\n").expect("a body");
        assert!(!head.contains("\r\nBcc"), "{head}");
        assert!(head.contains("To: ann@farm.example, bo@h.example"), "{head}");
        assert!(head.contains("Message-ID: <hei_c3_9f.boiler@farm.example>"), "{head}");
        assert!(head.contains("Auto-Submitted: auto-generated"), "{head}");
        let to: Vec<String> = message.envelope().to().iter().map(ToString::to_string).collect();
        assert_eq!(to, ["ann@farm.example", "bo@h.example"]);
    }

    #[test]
    fn a_number_of_readings_is_told_as_one() {
        let event = event();
        assert!(body(&event).contains("\nvalue: 12 of 60 readings > 80 °C\n"), "{}", body(&event));
        let mean =
            Event {
                when: "mean(boiler) > 80".into(), value: Some(81.5), unit: "°C".into(), ..event.clone()
            };
        assert!(body(&mean).contains("\nvalue: 81.5 °C\n"), "{}", body(&mean));
        let counted = Event { when: "count(boiler > 80) >= 5".into(), ..event };
        assert!(body(&counted).contains("\nvalue: 12\n"), "{}", body(&counted));
    }

    #[test]
    fn a_server_that_says_nothing_did_not_answer() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("smtp://{}", server.local_addr().expect("an address"));
        let settings = MailSettings { server: address, from: "barn@farm.example".to_owned(), ca: None };
        let to = To { all: &["ann@farm.example"], reached: &[] };
        let (limit, note) = (Duration::from_millis(300), |_: &str, _: Option<&str>| Ok(()));
        let said = send(&settings, &Trust::default(), to, &event(), limit, &note).expect_err("silent");
        assert!(said.ends_with("did not answer within 0.3 s"), "{said}");
        let all = ["ann@farm.example".to_owned()];
        let reached = To { reached: &all, ..to };
        assert_eq!(send(&settings, &Trust::default(), reached, &event(), limit, &note), Ok(()));
    }
}
