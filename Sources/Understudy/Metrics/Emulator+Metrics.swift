import Emulation

extension Emulator {
    /// The metrics in the format of Prometheus.
    ///
    /// - Parameter calls: the ids of the control calls, in the order of their indices.
    func metricsText(calls: [String]) -> String {
        var text = MetricsText()
        let counts = metrics.total
        writeExchanges(counts, to: &text)
        writeDurations(counts, to: &text)
        text.family("understudy_control_calls_total", .counter, "Answered control calls, by call and status.")
        for (label, count) in counts.controlCalls.sorted(by: { $0.key < $1.key }) {
            let call = label.operation == ExchangeLabel.none ? "" : calls[label.operation]
            text.sample("understudy_control_calls_total", count, ["call": call, "status": "\(label.status)"])
        }
        writeOccupancy(to: &text)
        text.gauge("understudy_sandboxes", "Sandboxes, the standard one included.", sandboxes.count)
        text.gauge(
            "understudy_sandboxes_in_memory", "Sandboxes, and those gone with which somebody still works.",
            sandboxes.countInMemory)
        text.gauge("understudy_journal_entries", "Entries of all journals.", sandboxes.journalEntries)
        text.gauge("understudy_journal_bytes", "Memory that all journals keep, estimated.", sandboxes.journalBytes)
        text.family(
            "understudy_log_lines_dropped_total", .counter, "Lines of the log that nobody took, and that are lost.")
        text.sample("understudy_log_lines_dropped_total", droppedLogLines(), [:])
        writeState(to: &text)
        writeProcess(to: &text)
        return text.text
    }

    private func writeExchanges(_ counts: ExchangeCounts, to text: inout MetricsText) {
        let name = "understudy_requests_total"
        text.family(
            name, .counter, "Answered requests of all sandboxes; reason is the failure's name, route the route's id.")
        for (label, count) in counts.exchanges.sorted(by: { $0.key < $1.key }) {
            let vendor = label.vendor == ExchangeLabel.none ? nil : metrics.vendors[label.vendor]
            let route = label.route == ExchangeLabel.none ? nil : vendor?.routes[label.route]
            let reason = label.failure == ExchangeLabel.none ? nil : vendor?.failures[label.failure]
            text.sample(
                name, count,
                [
                    "vendor": vendor?.id ?? "", "route": route ?? "", "status": "\(label.status)",
                    "reason": reason ?? "",
                ])
        }
    }

    private func writeDurations(_ counts: ExchangeCounts, to text: inout MetricsText) {
        let name = "understudy_request_duration_seconds"
        text.family(
            name, .histogram,
            "Time from a request's arrival to its answer, waits included; what a fault delays on the wire is not.")
        for (vendor, durations) in zip(metrics.vendors.map(\.id) + [""], counts.durations) {
            for (bound, count) in durations.cumulative {
                text.sample("\(name)_bucket", count, ["vendor": vendor, "le": bound])
            }
            text.sample("\(name)_sum", Double(durations.nanoseconds) / 1e9, ["vendor": vendor])
            text.sample("\(name)_count", durations.count, ["vendor": vendor])
        }
    }

    /// Only a server that keeps its sandboxes has anything to report.
    private func writeState(to text: inout MetricsText) {
        guard let total = keeper?.total else { return }
        for (name, about, value) in [
            ("understudy_state_sandboxes_read_total", "Sandboxes read from the store of --state.", total.read),
            ("understudy_state_changes_written_total", "Changes of sandboxes written to the store.", total.written),
            ("understudy_state_bytes_written_total", "The bytes of their records.", total.bytes),
            (
                "understudy_state_write_failures_total", "Changes that could not be written, each attempt counted.",
                total.failed
            ),
        ] + (replica == nil ? [] : replicaCounts(total)) {
            text.family(name, .counter, about)
            text.sample(name, value, [:])
        }
        guard let replica else { return }
        text.gauge(
            "understudy_replica_info", "Always 1; the label is the replica's name.", 1, ["replica": replica])
    }

    private func replicaCounts(_ total: StateKeeper.Counts) -> [(String, String, Int)] {
        [
            (
                "understudy_state_taken_over_total", "Sandboxes taken from another replica, or from one that was gone.",
                total.takenOver
            ),
            (
                "understudy_state_handed_over_total", "Sandboxes given to a replica that wished for them.",
                total.handedOver
            ),
            (
                "understudy_lease_lapses_total", "How often others could have counted this replica as gone.",
                total.lapses
            ),
        ]
    }

    /// Without a server there are no connections to report.
    private func writeOccupancy(to text: inout MetricsText) {
        let servers = metrics.occupancies
        guard !servers.isEmpty else { return }
        text.gauge(
            "understudy_open_connections", "Open connections, WebSockets included.",
            servers.reduce(0) { $0 + $1.openConnections })
        text.gauge("understudy_open_websockets", "Open WebSockets.", servers.reduce(0) { $0 + $1.openWebSockets })
    }

    private func writeProcess(to text: inout MetricsText) {
        text.gauge(
            "understudy_build_info", "Always 1; the labels are the release and the fixtures' fingerprint.", 1,
            ["version": Self.version, "fixtures": fixtureFingerprint])
        let facts = ProcessFacts()
        text.gauge(
            "process_start_time_seconds", "When the process was started, in Unix seconds.",
            (facts?.start ?? metrics.began).unixSeconds)
        guard let facts else { return }
        text.gauge("process_resident_memory_bytes", "Resident memory.", facts.residentBytes)
    }
}
