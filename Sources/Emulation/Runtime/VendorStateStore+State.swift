public import JSON

/// Export, import and reset of the state.
extension VendorStateStore {
    @usableFromInline
    func export(_ extent: StateExtent) -> JSON? {
        let content = snapshot()
        return content.runtime.vendor.export(content.state, extent)
    }

    @usableFromInline
    func write(to rows: RowWriter) {
        let runtime = runtime
        let whole = content.withLock { content -> Content? in
            _ = content.catchUp(with: runtime)
            if rows.pass == .changes, !content.isChanged { return nil }
            if rows.pass != .marking { content.isChanged = false }
            guard rows.pass == .everything else {
                content.runtime.vendor.write(&content.state, to: rows)
                return nil
            }
            // A large state is written outside the lock, and from here on its tables note what changes.
            content.runtime.vendor.write(&content.state, to: RowWriter(.marking))
            return content
        }
        guard let whole else { return }
        var state = whole.state
        whole.runtime.vendor.write(&state, to: rows)
    }

    @usableFromInline
    func read(_ node: FixtureNode, _ extent: StateExtent) throws(FixtureProblem) -> @Sendable () -> Void {
        let content = snapshot()
        let state = try content.runtime.vendor.state(importing: node, extent, over: content.state)
        return { self.replace(state, madeAt: content.runtime) }
    }

    @usableFromInline
    func reset() {
        let runtime = runtime
        replace(runtime.vendor.state(afterResetting: snapshot().state), madeAt: runtime)
    }
}
