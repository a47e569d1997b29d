import Support
import Testing

/// What every vendor must satisfy; `VendorConformance.vendors` lists the vendors.
@Suite("Every vendor") struct ConformanceTests {
    // MARK: Routes

    @Test("answers each route at each of its places", arguments: Depth.allCases, each(\.routes))
    func route(_ depth: Depth, _ route: Conforming<RouteCase>) async throws {
        try await route.vendor.check(route.value, depth)
    }

    @Test("refuses a call without its credentials, with a reason", arguments: Depth.allCases, each(\.routes))
    func refusedRoute(_ depth: Depth, _ route: Conforming<RouteCase>) async throws {
        try await route.vendor.checkRefusal(route.value, depth)
    }

    @Test("has a case for each place of each route", arguments: VendorConformance.vendors)
    func routeCoverage(_ vendor: VendorConformance) throws { try vendor.checkRouteCoverage() }

    @Test("takes hostile contents or refuses them in its own shape, without a change", arguments: each(\.routes))
    func hostileBodies(_ route: Conforming<RouteCase>) async throws {
        try await route.vendor.checkHostileBodies(of: route.value)
    }

    @Test("reads contents up to its limit and no longer", arguments: each(\.routes))
    func bodyLimit(_ route: Conforming<RouteCase>) async throws {
        try await route.vendor.checkBodyLimit(of: route.value)
    }

    @Test("shows samples that work and are no secrets", arguments: Depth.allCases, VendorConformance.vendors)
    func samples(_ depth: Depth, _ vendor: VendorConformance) async throws { try await vendor.checkSamples(depth) }

    // MARK: Failures

    /// Each is provoked by a contract case, which says its status and content.
    @Test("has a sheet that says how each failure looks", arguments: VendorConformance.vendors)
    func failureSheet(_ vendor: VendorConformance) throws { try vendor.checkFailureSheet() }

    @Test("answers each armed failure as failures.yaml has it, wherever it is armed", arguments: each(\.failureNames))
    func armed(_ failure: Conforming<String>) async throws { try await failure.vendor.checkArmed(failure.value) }

    // MARK: Switches

    @Test("does what each value of each switch says", arguments: each(\.switches))
    func switchValue(_ example: Conforming<SwitchCase>) async throws { try await example.vendor.check(example.value) }

    @Test("has a case for each value of each switch, and each changes something", arguments: VendorConformance.vendors)
    func switchCoverage(_ vendor: VendorConformance) async throws { try await vendor.checkSwitchCoverage() }

    // MARK: Scenarios

    @Test("lets an app that does everything at once through each scenario, or ends it", arguments: each(\.plays))
    func play(_ play: Conforming<ScenarioPlay>) async throws { try await play.vendor.check(play.value) }

    @Test("has a play for each scenario", arguments: VendorConformance.vendors)
    func playCoverage(_ vendor: VendorConformance) throws { try vendor.checkPlayCoverage() }

    // MARK: Actions

    @Test("has these actions, and each is refused without a member it needs", arguments: VendorConformance.vendors)
    func actions(_ vendor: VendorConformance) async throws { try await vendor.checkActions() }

    // MARK: Tokens

    @Test("accepts minted tokens of each kind", arguments: Depth.allCases, each(\.tokens))
    func token(_ depth: Depth, _ token: Conforming<TokenCase>) async throws {
        try await token.vendor.check(token.value, depth)
    }

    @Test("refuses each defect with a reason that names it", arguments: each(\.defects))
    func defect(_ defect: Conforming<DefectCase>) async throws { try await defect.vendor.check(defect.value) }

    @Test("has a case for each defect, and each changes what is found", arguments: VendorConformance.vendors)
    func tokenCoverage(_ vendor: VendorConformance) async throws { try await vendor.checkTokenCoverage() }

    // MARK: State

    @Test("reads what it exports, and is the same", arguments: Depth.allCases, living)
    func export(_ depth: Depth, _ vendor: VendorConformance) async throws { try await vendor.checkExport(depth) }

    @Test("is the same after restarts", arguments: Memory.allCases, living)
    func restart(_ memory: Memory, _ vendor: VendorConformance) async throws { try await vendor.checkRestart(memory) }

    @Test("goes on after a restart as it would have without", arguments: Memory.allCases, living)
    func continuation(_ memory: Memory, _ vendor: VendorConformance) async throws {
        try await vendor.checkContinuation(memory)
    }

    @Test("is as new after a reset", arguments: living)
    func reset(_ vendor: VendorConformance) async throws { try await vendor.checkReset() }

    @Test("keeps what requests made when fixtures are read anew", arguments: living)
    func reload(_ vendor: VendorConformance) async throws { try await vendor.checkReload() }

    @Test("keeps sandboxes apart", arguments: Depth.allCases, living)
    func isolation(_ depth: Depth, _ vendor: VendorConformance) async throws { try await vendor.checkIsolation(depth) }

    @Test("repeats itself under a seed", arguments: living)
    func seed(_ vendor: VendorConformance) async throws { try await vendor.checkSeed() }

    @Test("refuses wrong states by their place, without a change", arguments: each(\.wrongStates))
    func wrongState(_ wrong: Conforming<WrongState>) async throws { try await wrong.vendor.check(wrong.value) }

    @Test("does not start with wrong accounts", arguments: each(\.wrongAccounts))
    func wrongAccounts(_ wrong: Conforming<WrongAccounts>) throws { try wrong.vendor.check(wrong.value) }

    @Test("bounds its records", arguments: each(\.bounds))
    func bound(_ bound: Conforming<BoundCase>) async throws { try await bound.vendor.check(bound.value) }
}

private let living = VendorConformance.vendors.filter { $0.life != nil }

private func each<Value: Sendable>(_ cases: (VendorConformance) -> [Value]) -> [Conforming<Value>] {
    VendorConformance.vendors.flatMap { vendor in cases(vendor).map { Conforming($0, of: vendor) } }
}
