/* Names of kernels: demangled, shortened, and bounded whatever the file holds. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names/demangle.h"

struct named {
    const char *mangled, *full, *short_name;
};

static const struct named examples[] = {
    {"_Z5scalePfi", "scale(float*, int)", "scale"},
    {"_Z5scaleILi256EEvPfi", "void scale<256>(float*, int)", "scale<256>"},
    {"_ZN7cutlass6KernelINS_4gemm6kernel13GemmUniversalIfEEEEvNT_6ParamsE",
     "void cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<float> "
     ">(cutlass::gemm::kernel::GemmUniversal<float>::Params)",
     "Kernel<GemmUniversal>"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, "
     "1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
     "vectorized_elementwise_kernel<4, FillFunctor>"},
    {"_Z4copyILi4E36an_argument_with_a_rather_long_name_36an_argument_with_a_rather_long_name_Evv",
     "void copy<4, an_argument_with_a_rather_long_name_, an_argument_with_a_rather_long_name_>()",
     "copy<4, an_argument_with_a_rather_long_name_, an_argument_with_a_rather_long_name_>"},
    {"_Z1fI1aI1bI1cI1dI1eIiEEEEEEvv", "void f<a<b<c<d<e<int> > > > > >()", "f<a>"},
    {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_"
     "functorIfffEclERNS_14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_",
     NULL, "reduce_kernel<512, 1, sum_functor>"},
    {"_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_copy_kernel_"
     "cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_EEvS4_RKT_EUliE_EEviT1_",
     NULL, "elementwise_kernel<128, 2, direct_copy_kernel_cuda>"},
    {"_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128ELi128ELi64ELi4ELb0ELb0EN7cutlass10bfloat16_"
     "tE19Flash_kernel_traitsILi128ELi128ELi64ELi4ES3_EELb0ELb1ELb0ELb0ELb0ELb1ELb0ELb0EEEv16Flash_fwd_"
     "params",
     NULL, "flash_fwd_kernel<Flash_fwd_kernel_traits, false, true, false, ...>"},
    {"triton_poi_fused_add_0", "triton_poi_fused_add_0", "triton_poi_fused_add_0"},
    {"__nv_static_22__bd20ab6a_4_k_cu_initv__Z3locPi", "loc(int*)", "loc"},
    {"__nv_static_22__bd20ab6a_4_k_cu_initv_plain", "plain", "plain"},
    {"__nv_static_999_x__Z3locPi", "__nv_static_999_x__Z3locPi", "__nv_static_999_x__Z3locPi"},
    {"__nv_static_", "__nv_static_", "__nv_static_"},
    {"_ZN44_GLOBAL__N__0cf36e1c_13_reduce_cu_bd20ab6a_13sumEPf", "(anonymous namespace)::sum(float*)", "sum"},
    {"_ZN12_GLOBAL__N_13sumEPf", "(anonymous namespace)::sum(float*)", "sum"},
    {"_ZlsI1AEvT_", "void operator<< <A>(A)", "operator<<<A>"},
    {"", "", ""},
    {"_Z", "_Z", "_Z"},
};

static void names_are_as_people_write_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *mangled = examples[i].mangled;
        char *full = demangle_full(mangled), *folded = demangle_short(mangled);
        assert_string_equal(full, examples[i].full ? examples[i].full : full);
        assert_string_equal(folded, examples[i].short_name);
        free(full);
        free(folded);
    }
}

/* Each type is a pair of the one before, so the text doubles at each step: 2^30 characters without a bound.
 */
static void a_name_that_explodes_is_left_as_it_is(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char mangled[512] = "_Z1f1aIiiE";
    for (int i = 0; i < 30; i++) {
        char step[16];
        snprintf(step, sizeof step, "S_IS%c_S%c_E", digits[i], digits[i]);
        strcat(mangled, step);
    }
    char *full = demangle_full(mangled);
    assert_string_equal(full, mangled);
    free(full);
}

static void long_and_deep_names_do_not_exhaust_the_stack(void **state)
{
    (void)state;
    static const char *const steps[] = {"P", "F", "A_", "N1a", "1aI", "XngX", "DTng", "ZN", "Xcv", "DpT_"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        static char mangled[40000];
        strcpy(mangled, "_Z1f");
        for (size_t at = 4; at < 16300; at += strlen(steps[i])) {
            strcpy(mangled + at, steps[i]);
        }
        char *full = demangle_full(mangled), *folded = demangle_short(mangled);
        assert_non_null(full);
        assert_non_null(folded);
        free(full);
        free(folded);
    }
}

static void names_longer_than_the_bound_come_back_unchanged(void **state)
{
    (void)state;
    static char mangled[20000];
    memset(mangled, 'P', sizeof mangled - 1);
    memcpy(mangled, "_Z1f", 4);
    char *full = demangle_full(mangled);
    assert_string_equal(full, mangled);
    free(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_as_people_write_them),
        cmocka_unit_test(a_name_that_explodes_is_left_as_it_is),
        cmocka_unit_test(long_and_deep_names_do_not_exhaust_the_stack),
        cmocka_unit_test(names_longer_than_the_bound_come_back_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
