// toml_file.cpp — see toml_file.h. This is the only file in C++: Debian has no maintained TOML
// library for C, and toml++ is a single header. No exception leaves this file: toml++ is built
// without exceptions, and if the standard library throws (out of memory), the program ends.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#include "grader/class/toml_file.h"
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <vector>

namespace {

struct toml_visitor {
    bool (*on_value)(void *, const class_toml_value *);
    void *user;
};

// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
long long days_from_civil(int y, unsigned m, unsigned d) {
    y -= m <= 2;
    long long era = (y >= 0 ? y : y - 399) / 400;
    unsigned yoe = unsigned(y - era * 400), doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + (long long)(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}

void set_time(const toml::date_time &t, class_toml_value &v) {
    v.kind = CLASS_TOML_DATETIME;
    v.number = double(days_from_civil(t.date.year, t.date.month, t.date.day) * 86400 + t.time.hour * 3600 + t.time.minute * 60 + t.time.second);
    v.has_offset = t.offset.has_value();
    if (v.has_offset) v.number -= 60.0 * t.offset->minutes;
}

bool visit_value(const toml_visitor &w, const char *table, unsigned index, const char *key, const toml::node &n) {
    class_toml_value v{};
    v.table = table, v.index = index, v.key = key, v.text = "", v.line = n.source().begin.line;
    v.kind = CLASS_TOML_OTHER;
    if (auto s = n.as_string()) v.kind = CLASS_TOML_STRING, v.text = s->get().c_str();
    else if (auto i = n.as_integer()) v.kind = CLASS_TOML_NUMBER, v.number = double(i->get());
    else if (auto f = n.as_floating_point()) v.kind = CLASS_TOML_NUMBER, v.number = f->get();
    else if (auto b = n.as_boolean()) v.kind = CLASS_TOML_BOOLEAN, v.number = b->get();
    else if (auto t = n.as_date_time()) set_time(t->get(), v);
    return w.on_value(w.user, &v);
}

using key_node = std::pair<std::string, const toml::node *>;

// toml++ sorts keys by name; messages and lists need the order of the text.
std::vector<key_node> in_source_order(const toml::table &t) {
    std::vector<key_node> list;
    for (auto &&[key, node] : t) list.emplace_back(std::string(key.str()), &node);
    std::stable_sort(list.begin(), list.end(), [](const key_node &a, const key_node &b) {
        auto x = a.second->source().begin, y = b.second->source().begin;
        return x.line != y.line ? x.line < y.line : x.column < y.column;
    });
    return list;
}

bool visit_table(const toml_visitor &w, const std::string &name, unsigned index, const toml::table &t) {
    class_toml_value v{};
    v.table = name.c_str(), v.index = index, v.key = "", v.text = "", v.kind = CLASS_TOML_TABLE, v.line = t.source().begin.line;
    if (!w.on_value(w.user, &v)) return false;
    for (auto &[key, node] : in_source_order(t))
        if (!visit_value(w, name.c_str(), index, key.c_str(), *node)) return false;
    return true;
}

bool visit_top_level(const toml_visitor &w, const std::string &key, const toml::node &n) {
    if (auto t = n.as_table()) return visit_table(w, key, 0, *t);
    auto a = n.as_array();
    if (!a || !a->is_array_of_tables()) return visit_value(w, "", 0, key.c_str(), n);
    for (unsigned i = 0; i < a->size(); i++)
        if (!visit_table(w, key, i, *a->get(i)->as_table())) return false;
    return true;
}

} // namespace

extern "C" bool class_toml_read(const char *text, size_t size, bool (*on_value)(void *, const class_toml_value *), void *user,
                                char error_text[256], unsigned *line) {
    toml::parse_result r = toml::parse(std::string_view(text, size));
    if (!r) {
        std::string_view description = r.error().description();
        snprintf(error_text, 256, "%.*s", int(description.size() < 250 ? description.size() : 250), description.data());
        *line = r.error().source().begin.line;
        return false;
    }
    toml_visitor w{on_value, user};
    for (auto &[key, node] : in_source_order(r.table()))
        if (!visit_top_level(w, key, *node)) return false;
    return true;
}
