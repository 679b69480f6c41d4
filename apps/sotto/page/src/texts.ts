// Every text of the page. Short sentences, active, one idea each (words.md of the project).

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const T = {
  loading: "Loading…",
  close: "Close",
  cancel: "Cancel",
  understood: "Understood",
  show_more: (left: string) => `Show more (${left} left)`,
  more: (count: number) => `${count} more`,
  fault_of_page: "The page has a fault. Reload it; the plant is untouched.",
  left_out: (count: string, reason: string) => `${count} ${reason.replaceAll("-", " ")}`,

  views: { now: "Now", questions: "Questions", ask: "Ask", alarms: "Alarms", cloud: "Cloud sees", plan: "Plan", keys: "Keys" },

  frame: {
    skip: "Skip to the content",
    views: "Views",
    read_only: "read only",
    live: "live",
    waiting: "waiting",
    theme_title: "Colours: as the system, dark, light",
    theme: { auto: "Auto", dark: "Dark", light: "Light" },
    lock: "Lock",
    licences: "Licences of the parts inside",
    version: (version: string) => `sotto ${version}`,
  },

  link: {
    console_away: "The console does not answer. The page tries again; check that `sotto console` still runs.",
    cloud_away: (url: string) => `The cloud at ${url} is away. The page shows the last state it had.`,
    as_of: (age: string) => `State of ${age}.`,
    status: (status: number) => `The console answered with status ${status} and no reason.`,
    too_long: "The answer has a line longer than 128 MB. The page stopped reading it.",
    cut_off: "The answer ended before its result. Ask again.",
  },

  lock: {
    why: {
      new: "This page shows the readings of your plant. Open it with a code or the passphrase.",
      ended: "The session has ended. Open a new one.",
      passphrase: "The plant's secrets are locked with a passphrase.",
      idle: "Nobody moved for a while, so the page locked itself and forgot all readings.",
      locked: "The page is locked and holds no readings.",
    },
    code: "Code or passphrase",
    passphrase: "Passphrase",
    help: "`sotto console --code` prints a code, such as ABCD-EFGH-JKLM. A code works once.",
    passphrase_help: "It stays in the memory of `sotto console` on this machine.",
    open: "Open",
    opening: "Opening…",
  },

  time: {
    now: "just now",
    ago: (duration: string) => `${duration} ago`,
  },

  now: {
    summary: (devices: number, late: number, bytes: string) =>
      `${counted(devices, "device")}, ${late === 0 ? "none late" : `${late} late`}. Their windows take ${bytes} in the cloud.`,
    backup: (age: string) => `Last backup ${age}.`,
    no_backup: "No backup yet: run `sotto backup`.",
    none: "The plant has no device. Add one under Keys.",
    no_window: "no window",
    last_window: "end of the last window",
    heard: "Heard",
    readings: "Readings",
    windows: "Windows",
    bytes_a_reading: "Bytes a reading",
    missing: "Missing",
    left_out: "Left out",
    late: "late: its next window is overdue",
    unlisted: "the cloud did not list its windows: counts are 0",
    revoked: "revoked: the cloud refuses its windows",
    not_enrolled: "not enrolled: make a bundle",
    repeated: (count: number) => `${counted(count, "window")} refused: same mask as another. Two devices run from one copy`,
    taken: (count: number) => `${counted(count, "window")} refused: number taken. A copy of the bundle is in use`,
    without_secret: (count: string) => `${count} windows without their secret`,
    unusable: (count: string) => `${count} windows cannot be used`,
    earlier: (count: string) => `${count} windows of an earlier version are not read: renew the bundle`,
    generated: (count: string) => `${count} windows hold made-up readings`,
    recoveries: (count: number) => `lost its spool ${count === 1 ? "once" : `${count} times`}, and asked the cloud for its position`,
    alarm: (name: string, when: string) => `alarm ${name}: ${when}`,
  },

  rows: {
    exact: "exact",
  },

  alarms: {
    lasting_count: (count: number) => `${counted(count, "alarm")} lasting`,
  },
};
