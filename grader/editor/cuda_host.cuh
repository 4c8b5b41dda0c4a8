/* What nvcc lets host code call and clang does not. Only editors see it (compile_commands.sh). */
#pragma once
#include <type_traits>

template <class A, class B>
__host__ typename std::common_type<A, B>::type min(A a, B b) {
    return b < a ? b : a;
}
template <class A, class B>
__host__ typename std::common_type<A, B>::type max(A a, B b) {
    return a < b ? b : a;
}
